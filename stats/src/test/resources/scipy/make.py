"""Writes the CSV files beside it: inputs, the call, and what SciPy returns for them.

Run by hand: python make.py (needs numpy, scipy and statsmodels; the versions stand in each file's first
line).
Columns: call;first;second;expected values. Numbers inside a column are separated by blanks.
"""

import numpy as np
import scipy
import statsmodels
from pathlib import Path
from scipy import stats
from statsmodels.stats.multitest import multipletests
from statsmodels.tsa.stattools import acf

HERE = Path(__file__).parent
HEAD = f"# numpy {np.__version__}, scipy {scipy.__version__}, statsmodels {statsmodels.__version__}, written by make.py"
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
for n, m in [(3, 10), (7, 7), (15, 15)]:
    pairs.append((rng.standard_t(2, n), rng.standard_t(2, m)))
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
for n, m, digits in [(40, 35, 9), (50, 50, 1), (61, 2, 9), (35, 40, 0), (100, 70, 9), (80, 90, 1), (31, 31, 0), (200, 150, 2)]:
    a, b = np.round(rng.normal(0, 1, n), digits), np.round(rng.normal(0.3, 1, m), digits)
    r = stats.mannwhitneyu(a, b, alternative="two-sided", method="asymptotic")
    rows.append(("mannwhitneyu(a, b, alternative='two-sided', method='asymptotic'): statistic, pvalue", a, b, [r.statistic, r.pvalue]))
write("mann-whitney.csv", rows)

rows = []
for n in [2, 3, 4, 5, 5, 6, 6, 7, 8, 9, 10, 12]:
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
for n in [2, 3, 4, 5, 10, 29]:
    for level in [0.5, 0.9, 0.95, 0.99, 0.9999]:
        a = rng.normal(50, 3, n)
        low, high = stats.t.interval(level, n - 1, loc=np.mean(a), scale=stats.sem(a))
        rows.append(("t.interval(b, len(a) - 1, loc=mean(a), scale=sem(a)): low, high", a, [level], [low, high]))
write("student-t.csv", rows)

rows = []
for n in [1, 2, 3, 4, 5, 7, 11, 20, 50, 101]:
    a = rng.normal(0, 1, n)
    q = [0, 0.1, 0.25, 0.5, 0.75, 0.975, 1]
    rows.append(("numpy.quantile(a, b, method='linear')", a, q, np.quantile(a, q, method="linear")))
write("quantiles.csv", rows)

rows = []
for p in [[0.01], [0.04, 0.01, 0.03], [0.5, 0.6, 0.7], [0.001, 0.02, 0.02, 0.8, 0.013], rng.uniform(0, 0.1, 12), [0, 1], [0.03, 0.03, 0.03], [0.049, 0.0251, 0.0249], rng.uniform(0, 1, 30) ** 3]:
    p = np.asarray(p, float)
    rows.append(("statsmodels multipletests(a, method='holm')[1]", p, [0], multipletests(p, method="holm")[1]))
write("holm.csv", rows)

rows = []
for n in [3, 4, 5, 6, 7, 8, 10, 12]:
    a = rng.normal(0, 1, n) + 0.5 * np.arange(n)
    r = stats.kendalltau(np.arange(n), a, method="exact", alternative="greater" if stats.kendalltau(np.arange(n), a).statistic >= 0 else "less")
    rows.append(("kendalltau(range(len(a)), a, method='exact', alternative on the side of tau): pvalue", a, [0], [r.pvalue]))
    rows.append(("theilslopes(a).slope", a, [1], [stats.theilslopes(a).slope]))
write("trend.csv", rows)

rows = []
for n, p, level in [
    (6, 0.5, 0.95), (7, 0.5, 0.9), (10, 0.5, 0.95), (25, 0.5, 0.99), (30, 0.25, 0.95), (50, 0.9, 0.95),
    (72, 0.95, 0.95), (100, 0.1, 0.9), (101, 0.75, 0.99), (200, 0.95, 0.95), (400, 0.99, 0.95)]:
    a = rng.lognormal(0, 1, n)
    r = stats.quantile_test(a, q=1, p=p).confidence_interval(level)
    rows.append(("quantile_test(a, q=1, p=b[0]).confidence_interval(b[1]): low, high", a, [p, level], [r.low, r.high]))
write("quantile-intervals.csv", rows)


def geyer(rho):
    """Integrated autocorrelation time by the initial positive sequence, at least 1."""
    pairs = rho[0::2] + rho[1::2]
    positive = np.append(pairs, -1) > 0
    return max(1.0, 2 * pairs[: np.argmin(positive)].sum() - 1)


rows = []
for n, kept in [(10, 0), (10, 0.9), (16, 0.5), (20, -0.6), (20, 0.3), (30, 0.8), (40, 0), (50, 0.95), (64, 0.6), (80, 0.2), (120, 0.8), (200, 0.9)]:
    a = np.empty(n)
    a[0] = rng.normal()
    for i in range(1, n):
        a[i] = kept * a[i - 1] + rng.normal()
    rho = acf(a, nlags=n - 1, adjusted=False, fft=False)
    rows.append(("rho = statsmodels acf(a, nlags=len(a) - 1, adjusted=False, fft=False): rho[1], geyer(rho)", a + 100, [0], [rho[1], geyer(np.append(rho, 0) if n % 2 else rho)]))
write("autocorrelation.csv", rows)

rows = []
for n in [5, 6, 8, 10, 10, 12, 20, 30]:
    a = np.sort(rng.lognormal(0, 0.7, n))
    rows.append(("skew(a)", a, [0], [stats.skew(a)]))
    rows.append(("maximum over cuts of sorted a of squares between the parts over squares within, by f_oneway", a, [1], [max(
        stats.f_oneway(a[:k], a[k:]).statistic / (n - 2) for k in range(2, n - 1))]))
write("shape.csv", rows)

rows = []
for n in [4, 5, 9, 10, 16, 33]:
    a = rng.standard_t(2, n)
    rows.append(("numpy.percentile(a, [25, 75]) and iqr(a)", a, [0], [*np.percentile(a, [25, 75]), stats.iqr(a)]))
    rows.append(("median_abs_deviation(a, scale='normal')", a, [1], [stats.median_abs_deviation(a, scale='normal')]))
write("spread.csv", rows)
