"""How the service stands, for one page that an admin opens by a link of ten minutes.

links.py      the link: made by a command, stored nowhere
facts.py      what stands on the page
commands.py   `flask ops link`
"""
