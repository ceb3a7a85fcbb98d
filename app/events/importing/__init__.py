"""Imports of tickets sold elsewhere, from the exports of other systems."""
