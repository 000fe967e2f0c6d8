"""What the office remembers: proposals with what people said to them, the tiers they were measured by, jobs, their files."""

from accounting.office.models.job import Job
from accounting.office.models.proposal import Approval, Evidence, Outcome, Proposal
from accounting.office.models.result import ResultFile, ResultPart
from accounting.office.models.tier import Tier, TierEdition

__all__ = [
    "Approval",
    "Evidence",
    "Job",
    "Outcome",
    "Proposal",
    "ResultFile",
    "ResultPart",
    "Tier",
    "TierEdition",
]
