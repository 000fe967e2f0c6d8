"""One shape for every log line, whoever writes it: key and value for people, JSON for collectors."""

import logging.config
from typing import Any

import structlog


def logging_config(*, level: str, as_json: bool) -> dict[str, Any]:
    """The `dictConfig` form: one stream handler, rendered by structlog, third parties at `level`, ours at INFO."""
    # Plain tracebacks: the fancy ones print local variables, and those may be keys.
    plain = structlog.dev.ConsoleRenderer(colors=False, exception_formatter=structlog.dev.plain_traceback)
    renderer: Any = structlog.processors.JSONRenderer() if as_json else plain
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    formatter = {
        "()": structlog.stdlib.ProcessorFormatter,
        "foreign_pre_chain": shared,
        "processors": [
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            *([structlog.processors.format_exc_info] if as_json else []),
            renderer,
        ],
    }
    ours = {name: {"level": "INFO"} for name in ("accounting", "jackpot", "tables", "devices")}
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"structured": formatter},
        "handlers": {"stream": {"class": "logging.StreamHandler", "formatter": "structured"}},
        "root": {"handlers": ["stream"], "level": level},
        "loggers": ours,
    }


def configure(*, level: str, as_json: bool) -> None:
    """Set logging up for this process."""
    logging.config.dictConfig(logging_config(level=level, as_json=as_json))
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.stdlib.filter_by_level,
            structlog.stdlib.add_log_level,
            structlog.stdlib.add_logger_name,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.StackInfoRenderer(),
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
