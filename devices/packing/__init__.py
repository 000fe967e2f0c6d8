"""What an auditor takes away: stretches of streams as files, each with its verifier."""
