"""Optimal projection and generalized LQG after Bernstein, Hyland, Richter & Haddad 1989."""
