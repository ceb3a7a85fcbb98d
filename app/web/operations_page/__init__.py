"""The operations page: the state of the service, for anyone with a link that works for ten minutes.

links.py     the link, which is stored nowhere, and `flask ops link`
queries.py   the data of the page
"""
