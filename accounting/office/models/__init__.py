"""What the office remembers: proposals with what people said to them, the tiers they were measured by, jobs."""

from accounting.office.models.job import Job, JobPiece
from accounting.office.models.proposal import Approval, Evidence, Outcome, Proposal
from accounting.office.models.tier import Tier, TierEdition

__all__ = ["Approval", "Evidence", "Job", "JobPiece", "Outcome", "Proposal", "Tier", "TierEdition"]
