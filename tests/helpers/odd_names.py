"""A file's name that means something in every language that a report is written in, and how
Markdown gives it.
"""

ODD = r"$\frac{x$ & <b>a_b | `c` #1 (2) it's"
IN_MARKDOWN = r"\$\\frac{x\$ \& \<b\>a_b \| \`c\` #1 (2) it's"
