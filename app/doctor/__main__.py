"""`python -m app.doctor` is `flask doctor` for an installation whose settings are too wrong to start."""

import sys

from app import create_app
from app.config import SettingsError
from app.doctor.commands import doctor, print_findings
from app.doctor.results import fail


def main() -> None:
    try:
        app = create_app()
    except SettingsError as error:
        findings = [
            fail("settings", line, "Correct it; docs/settings.md explains each.") for line in str(error).splitlines()
        ]
        sys.exit(print_findings(findings, as_json="--json" in sys.argv))
    with app.app_context():
        doctor.main(sys.argv[1:], prog_name="doctor")


if __name__ == "__main__":
    main()
