"""python -m supply licences | sbom | audit"""

import json
import sys

from supply import audit, licences, sbom

match sys.argv[1:]:
    case ["licences"]:
        licences.PAGE.write_text(licences.page())
    case ["sbom"]:
        sys.stdout.write(json.dumps(sbom.document(), indent=1) + "\n")
    case ["audit"]:
        found = audit.problems()
        sys.exit("\n".join(found) or 0)
    case _:
        sys.exit(__doc__)
