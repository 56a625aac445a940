"""Writes the CSV files beside it: inputs, the call, and what SciPy returns for them.

Run by hand: python make.py (needs numpy and scipy; the versions stand in each file's first line).
Columns: call;first;second;expected values. Numbers inside a column are separated by blanks.
"""

import numpy as np
import scipy
from pathlib import Path
from scipy import stats

HERE = Path(__file__).parent
HEAD = f"# numpy {np.__version__}, scipy {scipy.__version__}, written by make.py"
rng = np.random.default_rng(20250101)


def text(values):
    return " ".join(repr(float(v)) for v in np.atleast_1d(values))


def write(name, rows):
    lines = [HEAD] + [";".join([r[0], *(text(c) for c in r[1:])]) for r in rows]
    (HERE / name).write_text("\n".join(lines) + "\n")


pairs = []
for n, m in [(2, 2), (2, 5), (3, 3), (4, 4), (5, 5), (6, 6), (8, 5), (10, 10), (12, 16), (25, 30)]:
    pairs.append((rng.normal(100, 2, n), rng.normal(102, 4, m)))
    pairs.append((rng.lognormal(0, 0.3, n), rng.lognormal(0.2, 0.1, m)))
pairs.append((np.array([1e9 + 1, 1e9 + 2, 1e9 + 4]), np.array([1e9 + 3, 1e9 + 5, 1e9 + 9])))

rows = []
for a, b in pairs:
    r = stats.ttest_ind(a, b, equal_var=False)
    rows.append(("ttest_ind(a, b, equal_var=False): statistic, df, pvalue", a, b, [r.statistic, r.df, r.pvalue]))
write("welch.csv", rows)

rows = []
for a, b in pairs:
    r = stats.ttest_ind(a, b, equal_var=True)
    rows.append(("ttest_ind(a, b).statistic * sqrt(1/len(a) + 1/len(b))", a, b, [r.statistic * np.sqrt(1 / len(a) + 1 / len(b))]))
write("cohens-d.csv", rows)

rows = []
for a, b in pairs:
    r = stats.mannwhitneyu(a, b, alternative="two-sided", method="exact")
    rows.append(("mannwhitneyu(a, b, alternative='two-sided', method='exact'): statistic, pvalue", a, b, [r.statistic, r.pvalue]))
for n, m in [(3, 3), (4, 5), (5, 5), (6, 4)]:
    a, b = rng.integers(0, 5, n).astype(float), rng.integers(1, 6, m).astype(float)
    r = stats.permutation_test(
        (a, b), lambda x, y: stats.mannwhitneyu(x, y).statistic, permutation_type="independent",
        n_resamples=np.inf, alternative="two-sided")
    rows.append(("permutation_test((a, b), mannwhitneyu statistic, n_resamples=inf): statistic, pvalue", a, b, [r.statistic, r.pvalue]))
for n, m in [(40, 35), (50, 50)]:
    a, b = rng.normal(0, 1, n), rng.normal(0.5, 1, m)
    if n == 50:
        a, b = np.round(a, 1), np.round(b, 1)
    r = stats.mannwhitneyu(a, b, alternative="two-sided", method="asymptotic")
    rows.append(("mannwhitneyu(a, b, alternative='two-sided', method='asymptotic'): statistic, pvalue", a, b, [r.statistic, r.pvalue]))
write("mann-whitney.csv", rows)

rows = []
for n in [2, 3, 5, 6, 8, 10, 12]:
    a = rng.normal(10, 1, n)
    b = a + rng.normal(0.7, 1, n)
    r = stats.permutation_test(
        (a, b), lambda x, y: np.mean(x - y), permutation_type="samples", vectorized=False,
        n_resamples=np.inf, alternative="two-sided")
    rows.append(("permutation_test((a, b), mean of differences, permutation_type='samples', n_resamples=inf): statistic, pvalue", a, b, [r.statistic, r.pvalue]))
a = np.array([3.0, 1.0, 2.0, 5.0, 4.0, 6.0, 2.0])
b = np.array([2.0, 2.0, 2.0, 4.0, 3.0, 7.0, 1.0])
r = stats.permutation_test(
    (a, b), lambda x, y: np.mean(x - y), permutation_type="samples", vectorized=False,
    n_resamples=np.inf, alternative="two-sided")
rows.append(("permutation_test with ties, as above: statistic, pvalue", a, b, [r.statistic, r.pvalue]))
write("paired-permutation.csv", rows)

rows = []
for n in [2, 3, 5, 10, 29]:
    for level in [0.5, 0.9, 0.95, 0.99, 0.9999]:
        a = rng.normal(50, 3, n)
        low, high = stats.t.interval(level, n - 1, loc=np.mean(a), scale=stats.sem(a))
        rows.append(("t.interval(b, len(a) - 1, loc=mean(a), scale=sem(a)): low, high", a, [level], [low, high]))
write("student-t.csv", rows)

rows = []
for n in [1, 2, 3, 4, 7, 20]:
    a = rng.normal(0, 1, n)
    q = [0, 0.1, 0.25, 0.5, 0.75, 0.975, 1]
    rows.append(("numpy.quantile(a, b, method='linear')", a, q, np.quantile(a, q, method="linear")))
write("quantiles.csv", rows)

rows = []
for p in [[0.01], [0.04, 0.01, 0.03], [0.5, 0.6, 0.7], [0.001, 0.02, 0.02, 0.8, 0.013], rng.uniform(0, 0.1, 12)]:
    p = np.asarray(p, float)
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(1, np.maximum.accumulate((len(p) - np.arange(len(p))) * p[order]))
    try:
        from statsmodels.stats.multitest import multipletests
        assert np.allclose(adjusted, multipletests(p, method="holm")[1], rtol=1e-14)
    except ImportError:
        raise SystemExit("pip install statsmodels: Holm's values are checked against it")
    rows.append(("statsmodels multipletests(a, method='holm')[1]", p, [0], adjusted))
write("holm.csv", rows)

rows = []
for n in [3, 4, 5, 6, 7, 8]:
    a = rng.normal(0, 1, n) + 0.5 * np.arange(n)
    r = stats.kendalltau(np.arange(n), a, method="exact", alternative="greater" if stats.kendalltau(np.arange(n), a).statistic >= 0 else "less")
    rows.append(("kendalltau(range(len(a)), a, method='exact', alternative on the side of tau): pvalue", a, [0], [r.pvalue]))
    rows.append(("theilslopes(a).slope", a, [1], [stats.theilslopes(a).slope]))
write("trend.csv", rows)
