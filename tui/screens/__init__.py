"""Sheets and pages that open above the tabs."""
