"""The metric as a page: relations as JSON go in, scores come out. Run it with `python app.py`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from openbiolink.errors import InputError
from openbiolink.metrics.relation_extraction import score_relations
from openbiolink.metrics.relation_extraction.settings import CHOICES

if TYPE_CHECKING:
    import gradio as gr

    from openbiolink.metrics.relation_extraction.settings import Mode

REFERENCES = """\
[
 [
  {"head": "phip igments", "head_type": "brand", "type": "sell", "tail": "國際認證之色乳", "tail_type": "product"},
  {"head": "tinadaviespigments", "head_type": "brand", "type": "sell", "tail": "國際認證之色乳", "tail_type": "product"}
 ]
]"""
PREDICTIONS = """\
[
 [
  {"head": "phipigments", "head_type": "product", "type": "sell", "tail": "國際認證之色乳", "tail_type": "product"},
  {"head": "tinadaviespigments", "head_type": "brand", "type": "sell", "tail": "國際認證之色乳", "tail_type": "product"}
 ]
]"""
COLUMNS = ("type", "tp", "fp", "fn", "p", "r", "f1")
WORDS = """\
# relation_extraction

Precision, recall and F1 of extracted relations, in percent. Both sides are a list of documents, each a list of
relations. In strict mode head, tail and their types must be equal; in boundaries mode entity types do not matter; in
relaxed mode `head_span` and `tail_span` need only share a place.
"""


def score(references: str, predictions: str, mode: Mode) -> tuple[list[list[str]], str]:
    """The table of scores and the scores as Python prints them; no rows and one line of error where there are none.

    Args:
        references: JSON, a list of documents.
        predictions: JSON of the same documents.
        mode: of `score_relations`.
    """
    try:
        scores = score_relations(
            references=_parsed("references", references), predictions=_parsed("predictions", predictions), mode=mode
        )
    except InputError as error:
        return [], f"Error: {error}"
    rows = [[name, *(_shown(row[column]) for column in COLUMNS[1:])] for name, row in scores.items()]
    macro = [_shown(scores["ALL"][f"Macro_{column}"]) for column in COLUMNS[4:]]
    return [*rows, ["mean over types", "", "", "", *macro]], str(scores)


def _parsed(side: str, text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(
            f"{side}, line {error.lineno}, column {error.colno}: no JSON ({error.msg}); mend it"
        ) from error
    except RecursionError as error:
        raise InputError(f"{side}: lists inside lists, too deep to be read; give a list of lists") from error


def _shown(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.2f}"


def build() -> gr.Blocks:
    """The page, with an example filled in; it asks nothing of other machines and tells them nothing."""
    import gradio as gr

    with gr.Blocks(title="relation_extraction", analytics_enabled=False) as page:
        gr.Markdown(WORDS)
        references = gr.Textbox(label="references", value=REFERENCES, lines=8)
        predictions = gr.Textbox(label="predictions", value=PREDICTIONS, lines=8)
        mode = gr.Radio(label="mode", choices=[*CHOICES["mode"]], value="strict")
        button = gr.Button("Score", variant="primary")
        table = gr.Dataframe(label="scores", headers=[*COLUMNS], datatype="str", interactive=False)
        result = gr.Textbox(label="as Python prints them", interactive=False)
        button.click(score, inputs=[references, predictions, mode], outputs=[table, result])
    return page


if __name__ == "__main__":
    build().launch(share=False)
