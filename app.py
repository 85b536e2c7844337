"""The server's entry in a checkout: `streamlit run app.py` starts it, and looks for `st.App` in this text."""

import streamlit as st

from chatbot.ui.server import PARTS, SCRIPT

app = st.App(SCRIPT, **PARTS)
