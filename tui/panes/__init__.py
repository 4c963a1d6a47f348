"""The five tabs."""
