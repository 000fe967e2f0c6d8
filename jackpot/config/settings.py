"""Settings of every process. What differs between installations comes from the environment; README.md lists it."""

import os
import sys
from pathlib import Path
from typing import Any

from csp.constants import NONE, SELF
from django.contrib.messages import constants as messages

from jackpot.config import address, alive, logs
from jackpot.config.data_folder import DataFolder
from jackpot.config.database_roles.privileges import SERVICE, SETTLE
from jackpot.config.embedded_postgres import EmbeddedPostgres

BASE_DIR = Path(__file__).resolve().parents[2]
DATA = DataFolder()
ROLE = os.environ.get("JACKPOT_ROLE", "command")  # web | settle | work | beat | command

DEBUG = os.environ.get("JACKPOT_DEBUG") == "1"
DEMO = os.environ.get("JACKPOT_DEMO") == "1"  # demo keys and demo people are honoured; `up` says so
HTTPS = os.environ.get("JACKPOT_HTTPS") == "1"  # a proxy in front speaks TLS and sets X-Forwarded-Proto
SECRET_KEY = os.environ.get("JACKPOT_SECRET_KEY") or DATA.secret_key()
SIGNING_KEY = os.environ.get("JACKPOT_SIGNING_KEY") or DATA.signing_key()  # of closed gaming days
# Who won is sealed with it. Several machines share one: where the database is elsewhere, nobody makes up a key of their own.
PATRON_KEY = os.environ.get("JACKPOT_PATRON_KEY") or ("" if os.environ.get("DATABASE_URL") else DATA.patron_key())
NAMES = [*filter(None, os.environ.get("JACKPOT_HOSTS", "").split(","))]  # the first is the one that people are sent to
ALLOWED_HOSTS = ["127.0.0.1", "localhost", "[::1]", *NAMES]
CSRF_TRUSTED_ORIGINS = [f"https://{host}" for host in ALLOWED_HOSTS] if HTTPS else []

ROOT_URLCONF = "jackpot.config.urls"
ASGI_APPLICATION = "jackpot.config.asgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
APPEND_SLASH = False
LANGUAGE_CODE = "en-us"
USE_I18N = False
USE_TZ = True
TIME_ZONE = "UTC"

INSTALLED_APPS = [
    "accounting",
    "accounting.office",
    "accounting.people",
    "accounting.reporting",
    "accounting.slips",
    "accounting.guides",
    "accounting.keeping",
    "accounting.shell",
    "jackpot",
    "jackpot.config.database_roles",
    "tables",
    "devices",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "django_prometheus",
    "django_structlog",
    "axes",
]

MIDDLEWARE = [
    "django_prometheus.middleware.PrometheusBeforeMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "jackpot.config.assets.CompressedFiles",
    "jackpot.config.caching.kept_by_nobody",
    "csp.middleware.CSPMiddleware",
    "django_permissions_policy.PermissionsPolicyMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "jackpot.config.nul.no_nul",  # here, so that whoever is refused is shown the way on
    "accounting.shell.acted.acted",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "jackpot.config.request_log.RequestLog",
    "axes.middleware.AxesMiddleware",
    "django_prometheus.middleware.PrometheusAfterMiddleware",
]

TEMPLATES: list[dict[str, Any]] = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "jackpot" / "config" / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "csp.context_processors.nonce",
                "accounting.shell.header.header",
            ],
        },
    }
]

# ── database ────────────────────────────────────────────────────────────────────────────────────────────────────
DATABASE_URL = os.environ.get("DATABASE_URL") or EmbeddedPostgres(DATA.postgres).url_of(
    SETTLE if ROLE == "settle" else SERVICE  # migrations connect `as_owner` (database.py)
)
DATABASES: dict[str, dict[str, Any]] = {"default": {**address.for_django(DATABASE_URL), "CONN_HEALTH_CHECKS": True}}
_options: dict[str, Any] = DATABASES["default"]["OPTIONS"]
_options.setdefault("application_name", f"jackpot {ROLE}")
if ROLE == "web":
    # Under ASGI every request may run in a thread of its own: connections are lent by a pool, never kept by a thread.
    _options["pool"] = {"min_size": 2, "max_size": int(os.environ.get("JACKPOT_POOL", "16")), "timeout": 5}
elif ROLE == "settle":
    DATABASES["default"]["CONN_MAX_AGE"] = None
elif ROLE == "work":
    DATABASES["default"]["CONN_MAX_AGE"] = 600
if ROLE in ("web", "settle"):
    _options["prepare_threshold"] = (
        sys.maxsize
    )  # keeps the plans of statements that ask for it (accounting.statements) only

# A copy of the database, for reading at leisure (accounting.elsewhere). Sessions there are made for a page and end with it, so
# that a copy that is gone is found out by the next; where it cannot be read, the house is, on a session that cannot write.
READ_DATABASE_URL = os.environ.get("READ_DATABASE_URL", "")
READ_BEHIND_SECONDS = float(os.environ.get("JACKPOT_READ_BEHIND_SECONDS", "60"))  # a copy further behind is not read
if READ_DATABASE_URL:
    for _alias, _url in (("elsewhere", READ_DATABASE_URL), ("read_only", DATABASE_URL)):
        _reading = address.for_django(_url)
        _reading["OPTIONS"] |= {
            "connect_timeout": 2,
            "application_name": f"jackpot {ROLE} reading",
            "options": "-c default_transaction_read_only=on",
        }
        DATABASES[_alias] = _reading | {"CONN_MAX_AGE": 0}

# ── jobs: the broker carries wake-ups and long jobs, never data ─────────────────────────────────────────────────
CELERY_BROKER_URL = os.environ.get("CELERY_BROKER_URL") or (
    f"pgmq:{DATABASE_URL.partition(':')[2]}"  # a real server and no broker named: a queue in the same database
    if os.environ.get("DATABASE_URL")
    else EmbeddedPostgres(DATA.postgres).broker_url
)
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_PUBLISH_RETRY = False  # a wake that cannot be sent costs nothing: the sweep comes within a second
CELERY_TASK_DEFAULT_QUEUE = "work"
CELERY_TASK_ROUTES = {"devices.tasks.settle": {"queue": "settle"}}
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_ENABLE_REMOTE_CONTROL = False
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_TIMEZONE = "UTC"
CELERY_BEAT_SCHEDULE = {
    "keeping": {"task": "accounting.keeping.tasks.clean", "schedule": 3_600.0, "options": {"expires": 3_000}},
    "onlookers": {"task": "accounting.keeping.tasks.end_onlookers", "schedule": 10.0, "options": {"expires": 9}},
    "office": {"task": "accounting.office.tasks.sweep", "schedule": 60.0, "options": {"expires": 50}},
    "locks": {"task": "devices.tasks.look_at_locks", "schedule": 10.0, "options": {"queue": "work", "expires": 9}},
    "deals": {"task": "devices.tasks.look_at_deals", "schedule": 2.0, "options": {"queue": "work", "expires": 5}},
}
if CELERY_BROKER_URL.startswith("pgmq:"):
    CELERY_BROKER_TRANSPORT_OPTIONS: dict[str, Any] = {
        "conn_string": address.conninfo(f"postgresql{CELERY_BROKER_URL.removeprefix('pgmq')}"),
        "init_extension": False,  # its SQL is installed when the database is made; no extension files are needed
        "pool_size": 2,
        "pool_timeout": 2,
        "use_notify": True,
        "notify_throttle_interval_ms": 0,  # throttling here would swallow the last wake of a burst
        "wait_time_seconds": 0,  # read, then wait for a notification: no polling inside the server
    }
    # Where it is has been said; Celery's own reader of addresses knows one host only, and would look into the environment.
    CELERY_BROKER_URL = CELERY_BROKER_READ_URL = CELERY_BROKER_WRITE_URL = "pgmq://database/"

# ── people ──────────────────────────────────────────────────────────────────────────────────────────────────────
MESSAGE_TAGS = {messages.SUCCESS: "good", messages.WARNING: "warn", messages.ERROR: "bad"}  # as house.css names them
LOGIN_URL = "/sign-in"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "/"
AUTHENTICATION_BACKENDS = ["axes.backends.AxesStandaloneBackend", "django.contrib.auth.backends.ModelBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
]
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.ScryptPasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
AXES_USERNAME_CALLABLE = "accounting.people.forms.counted_as"  # a name is one whatever its case
AXES_FAILURE_LIMIT = 10
AXES_COOLOFF_TIME = 0.25  # hours
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]  # a stranger cannot lock a colleague out from elsewhere
AXES_LOCKOUT_TEMPLATE = "locked_out.html"
AXES_RESET_ON_SUCCESS = True
AXES_ENABLE_ACCESS_FAILURE_LOG = False
SESSION_ENGINE = "accounting.people.sessions"
SESSION_COOKIE_AGE = 12 * 3600  # a shift
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
CSRF_COOKIE_HTTPONLY = False  # htmx sends it as a header
CSRF_FAILURE_VIEW = "jackpot.config.problems.csrf_failure"

# ── what browsers may do ────────────────────────────────────────────────────────────────────────────────────────
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],  # Tabler draws its form controls with data: images
        "font-src": [SELF],
        "connect-src": [SELF],
        "manifest-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
        "object-src": [NONE],
    }
}
PERMISSIONS_POLICY: dict[str, list[str]] = {
    "camera": [], "geolocation": [], "microphone": [], "payment": [], "usb": [], "serial": [], "display-capture": [],
}  # fmt: skip

# ── static files: found where they lie, or collected and named by content in an image ──────────────────────────
STATIC_URL = "/static/"
STATIC_ROOT = BASE_DIR / "staticfiles"
STATICFILES_DIRS = [BASE_DIR / "jackpot" / "config" / "static"]
WHITENOISE_USE_FINDERS = not STATIC_ROOT.is_dir()
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if WHITENOISE_USE_FINDERS and os.environ.get("JACKPOT_COLLECT") != "1"
        else "whitenoise.storage.CompressedManifestStaticFilesStorage"
    },
}

# ── API ─────────────────────────────────────────────────────────────────────────────────────────────────────────
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "devices.authentication.DeviceKey",
        "accounting.people.authentication.Bearer",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "jackpot.config.problems.handler",
    "UNAUTHENTICATED_USER": "django.contrib.auth.models.AnonymousUser",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Progressive jackpots",
    "DESCRIPTION": "Rounds in, settlements out; meters, hits and payouts. Amounts are whole cents; errors are RFC 9457.",
    "VERSION": "1",
    "SERVE_PERMISSIONS": ["rest_framework.permissions.IsAuthenticated"],
    "SERVE_INCLUDE_SCHEMA": False,
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "REDOC_DIST": "SIDECAR",
}

# ── what is overdue ─────────────────────────────────────────────────────────────────────────────────────────────
LOCK_SECONDS = float(os.environ.get("JACKPOT_LOCK_SECONDS", "600"))  # so long a lock may wait for its round's result

SNAPSHOT_SECONDS = float(os.environ.get("JACKPOT_SNAPSHOT_SECONDS", "600"))  # so long an auditor's session may hold one
STALLED_SECONDS = float(
    os.environ.get("JACKPOT_STALLED_SECONDS", "10")
)  # health: so long a message may wait to be settled

# ── what one request may cost ───────────────────────────────────────────────────────────────────────────────────
MOST_BODY_BYTES = DATA_UPLOAD_MAX_MEMORY_SIZE = 8 * 1024 * 1024  # 1,000 messages at once are about 1 MB
REQUEST_SECONDS = float(os.environ.get("JACKPOT_REQUEST_SECONDS", "20"))  # for its head, and again for its body
MOST_WATCHERS = int(os.environ.get("JACKPOT_WATCHERS", "5000"))  # signs that one web process serves
MOST_WATCHERS_PER_CLIENT = int(os.environ.get("JACKPOT_WATCHERS_PER_CLIENT", "2500"))

# A device that gives signs of life is silent after so many seconds without one: its tables' progressives are closed then.
JACKPOT_SILENT_SECONDS = float(os.environ.get("JACKPOT_SILENT_SECONDS", "10"))

# ── watching ────────────────────────────────────────────────────────────────────────────────────────────────────
PROMETHEUS_EXPORT_MIGRATIONS = False
METRICS_TOKEN = os.environ.get("JACKPOT_METRICS_TOKEN", "")  # a scraper elsewhere shows it; without one there is none
ALIVE_FILE = alive.file_of(ROLE) if ROLE in alive.WATCHED else None
DJANGO_STRUCTLOG_CELERY_ENABLED = False
DJANGO_STRUCTLOG_STATUS_4XX_LOG_LEVEL = 20  # a refused message is the day's work, not a warning
LOGGING_CONFIG = None
logs.configure(level=os.environ.get("JACKPOT_LOG", "WARNING"), as_json=os.environ.get("JACKPOT_LOG_FORMAT") == "json")
