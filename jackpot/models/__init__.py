"""What the jackpot side remembers: progressive editions, links, levels, meters and hits."""

from jackpot.models.hit import Hit, HitStep
from jackpot.models.link import Level, LevelTerms, Link, Meter
from jackpot.models.paytable import ProgressiveEdition, ProgressiveGame, ProgressiveLevel

__all__ = [
    "Hit",
    "HitStep",
    "Level",
    "LevelTerms",
    "Link",
    "Meter",
    "ProgressiveEdition",
    "ProgressiveGame",
    "ProgressiveLevel",
]
