"""The metrics as a page: ranks go in, numbers come out. Run it with `python app.py`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from openbiolink.errors import InputError
from openbiolink.metrics.ranking import KS, summary, tally_ranks

if TYPE_CHECKING:
    import gradio as gr

RANKS = "1 3 5 10 20 2 1 8 15 1"
RANK = r"\d{1,15}(\.\d{1,15})?|inf"
K = r"\d{1,9}"
EXAMPLES = {"ranks": "1, 2.5 or inf", "ks": "1 or 10"}
WORDS = """\
# link_prediction_ranks

MRR, Hits@k, mean and median of the ranks that right answers got; 1 is the best. One number for each query, with blanks
or commas between them.
"""


def score(ranks: str, ks: str) -> tuple[list[list[str]], str]:
    """The table of metrics and the metrics as Python prints them; no rows and one line of error for what is no rank.

    Args:
        ranks: numbers with blanks or commas between them.
        ks: the k of Hits@k, in the same way.
    """
    try:
        metrics = summary(tally_ranks(_numbers("ranks", ranks, RANK)), [int(k) for k in _numbers("ks", ks, K)])
    except InputError as error:
        return [], f"Error: {error}"
    return [[name, f"{value:g}" if value is not None else "-"] for name, value in metrics.items()], str(metrics)


def _numbers(name: str, text: str, pattern: str) -> list[float]:
    """The numbers of a text."""
    words = text.replace(",", " ").split()
    for place, word in enumerate(words, 1):
        if not re.fullmatch(pattern, word, flags=re.ASCII):
            raise InputError(f"{name}, number {place}: {word!r} cannot be one of them; give such as {EXAMPLES[name]}")
    return [float(word) for word in words]


def build() -> gr.Blocks:
    """The page, with an example filled in; it asks nothing of other machines and tells them nothing."""
    import gradio as gr

    with gr.Blocks(title="link_prediction_ranks", analytics_enabled=False) as page:
        gr.Markdown(WORDS)
        ranks = gr.Textbox(label="ranks", value=RANKS, lines=4)
        ks = gr.Textbox(label="ks", value=" ".join(map(str, KS)))
        button = gr.Button("Score", variant="primary")
        table = gr.Dataframe(label="metrics", headers=["metric", "value"], datatype="str", interactive=False)
        result = gr.Textbox(label="as Python prints them", interactive=False)
        button.click(score, inputs=[ranks, ks], outputs=[table, result])
    return page


if __name__ == "__main__":
    build().launch(share=False)
