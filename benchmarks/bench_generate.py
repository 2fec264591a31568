"""How long and how much memory `openbiolink generate` takes on a STRING of full size.

    python benchmarks/bench_generate.py [--rows 12000000] [--folder FOLDER]

Makes a links file in STRING's layout (every pair in both directions, 19,000 proteins, a skewed degree
distribution) and its mapping to genes, runs the command on them in a process of its own and prints the
time, the peak memory and the counts.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

PROTEINS = 19_000


def write_string(folder: Path, rows: int) -> Path:
    """Write a links file of about `rows` rows, its mapping and a source map; returns the map."""
    rng = np.random.default_rng(42)
    weight = 1 / np.arange(1, PROTEINS + 1) ** 0.4
    weight /= weight.sum()
    keys = np.array([], dtype=np.int64)
    while len(keys) < rows // 2:
        a, b = rng.choice(PROTEINS, size=(2, rows), p=weight)
        low, high = np.minimum(a, b), np.maximum(a, b)
        keys = np.unique(np.concatenate([keys, (low * PROTEINS + high)[low != high]]))
    keys = rng.permutation(keys)[: rows // 2]
    scores = rng.integers(150, 1000, size=len(keys))
    names = np.array([f"9606.ENSP{number:011d}" for number in range(PROTEINS)])
    with (folder / "9606.protein.links.v11.0.txt").open("w") as stream:
        stream.write("protein1 protein2 combined_score\n")
        for start in range(0, len(keys), 500_000):
            part = slice(start, start + 500_000)
            for a, b, score in zip(
                names[keys[part] // PROTEINS], names[keys[part] % PROTEINS], scores[part], strict=True
            ):
                stream.write(f"{a} {b} {score}\n{b} {a} {score}\n")
    with (folder / "human.entrez_2_string.tsv").open("w") as stream:
        stream.write("# NCBI taxid / entrez / STRING \n")
        for number in range(PROTEINS - 100):
            stream.write(f"9606\t{number + 1 - (number % 50 == 49)}\t{names[number]}\n")
    source_map = folder / "sources.toml"
    source_map.write_text(
        '[sources]\n"string.links" = "9606.protein.links.v11.0.txt"\n"string.entrez" = "human.entrez_2_string.tsv"\n'
    )
    return source_map


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=12_000_000)
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder = Path(name)
        source_map = write_string(folder, options.rows)
        command = [Path(sys.executable).with_name("openbiolink"), "-p", folder, "generate", "--edition", "2020"]
        command += ["--source-map", source_map]
        start = time.perf_counter()
        subprocess.run(command, check=True)
        seconds = time.perf_counter() - start
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        print((folder / "graph_files" / "ledger.tsv").read_text())
        print(f"{options.rows:,} rows: {seconds:.1f} s, peak memory {peak:,.0f} MiB")


if __name__ == "__main__":
    main()
