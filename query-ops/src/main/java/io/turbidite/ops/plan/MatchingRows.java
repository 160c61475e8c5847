package io.turbidite.ops.plan;

import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordSample;

import java.util.List;

/**
 * About how many records match a query: what the ways in counted, and shares of what they did not
 * count. <em>Immutable.</em>
 *
 * @param countings of the scan first
 */
record MatchingRows(CheckedQuery query, List<ResultRows.Counting> countings) {
    /** Where a scan is the only way in. */
    static MatchingRows ofScan(CheckedQuery query, long scanRows) {
        return new MatchingRows(query, List.of(ResultRows.Counting.ofScan(query, scanRows)));
    }

    /** By guesses where nothing was counted. */
    ResultRows guessed() {
        return ResultRows.of(query, countings, Shares.GUESSED);
    }

    /**
     * What a choice should go by. Guesses are good enough but where they decide: with a limit, a
     * way in that gives rows in their order stops the sooner the more there are.
     */
    ResultRows deciding(ReadView view, Access.Scan scan, long scanRows) {
        ResultRows guessed = guessed();
        if (query.kind() != CheckedQuery.Kind.ROWS
                || !query.hasLimit()
                || guessed.guessCount() == 0
                || scanRows < SampledShare.SCAN_ROWS_MIN) {
            return guessed;
        }
        RecordSample sample = view.sample();
        if (sample.size() >= SampledShares.RECORDS_MIN) {
            return by(view, sample);
        }
        double share = SampledShare.of(query, view, scan, scanRows);
        return share < 0 ? guessed : new ResultRows(Math.round(scanRows * share), 0);
    }

    /** What an explanation should say, and a join goes by: both are worth a look at the sample. */
    ResultRows told(ReadView view) {
        ResultRows guessed = guessed();
        if (guessed.guessCount() == 0) {
            return guessed;
        }
        RecordSample sample = view.sample();
        return sample.size() >= SampledShares.RECORDS_MIN ? by(view, sample) : guessed;
    }

    private ResultRows by(ReadView view, RecordSample sample) {
        SampledShares shares = SampledShares.of(query, sample);
        double all = view.estimateScan(KeyRange.all(), FilterPredicate.none()) * sample.liveShare();
        if (shares.areTogether()) {
            return new ResultRows(Math.round(all * shares.together()), 0);
        }
        double rows = ResultRows.of(query, countings, shares).rows();
        rows = Math.min(rows, all * shares.togetherMax());
        if (shares.together() > 0) {
            // one that matches all says that they go together, and that not exactly
            rows = Math.sqrt(Math.max(1, rows) * all * shares.together());
        }
        return new ResultRows(Math.round(rows), 0);
    }
}
