"""What a browser calls itself, in two words."""

# The first that is found counts: every browser also claims to be those below it.
BROWSERS = (
    ("Edg", "Edge"), ("OPR/", "Opera"), ("Firefox/", "Firefox"), ("FxiOS/", "Firefox"), ("CriOS/", "Chrome"),
    ("Chrome/", "Chrome"), ("Safari/", "Safari"),
)  # fmt: skip
SYSTEMS = (
    ("iPhone", "iPhone"), ("iPad", "iPad"), ("Android", "Android"), ("Windows", "Windows"), ("CrOS", "ChromeOS"),
    ("Mac OS X", "macOS"), ("Linux", "Linux"),
)  # fmt: skip


def in_two_words(user_agent: str) -> str:
    """`Chrome on Linux` of a `User-Agent` header; one that is no browser's as far as it names itself."""
    browser = next((name for sign, name in BROWSERS if sign in user_agent), None)
    system = next((name for sign, name in SYSTEMS if sign in user_agent), None)
    if browser and system:
        return f"{browser} on {system}"
    return browser or user_agent.partition(" ")[0][:40]
