package io.turbidite.hashlog.registry;

import io.turbidite.hashlog.chain.ChainHeads;
import io.turbidite.hashlog.psf.PsfDefinition;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * A PSF that is or was registered. <em>Immutable.</em>
 *
 * @param id never reused
 * @param name as users call it; of the active PSFs only one has it
 * @param active whether new records are indexed by it
 * @param intervals where chains index it, ascending and disjoint; the last may be open
 * @param chainCount how many chains each of its properties has
 * @param runs where sorted runs do, ascending and disjoint, from each other and from the intervals
 */
public record RegisteredPsf(
        int id,
        String name,
        PsfDefinition definition,
        boolean active,
        int chainCount,
        List<Interval> intervals,
        List<HistoryRun> runs) {

    public RegisteredPsf {
        ChainHeads.check(chainCount);
        intervals = List.copyOf(intervals);
        runs = List.copyOf(runs);
    }

    /** One that is indexed nowhere yet. */
    static RegisteredPsf fresh(int id, String name, PsfDefinition definition, int chainCount) {
        return new RegisteredPsf(id, name, definition, true, chainCount, List.of(), List.of());
    }

    private RegisteredPsf with(boolean nowActive, List<Interval> others) {
        return new RegisteredPsf(id, name, definition, nowActive, chainCount, others, runs);
    }

    private RegisteredPsf withRuns(Stream<HistoryRun> others) {
        List<HistoryRun> sorted =
                others.sorted(Comparator.comparingLong(HistoryRun::from)).toList();
        return new RegisteredPsf(id, name, definition, active, chainCount, intervals, sorted);
    }

    /** With one more run. */
    public RegisteredPsf withRun(HistoryRun run) {
        return withRuns(Stream.concat(runs.stream(), Stream.of(run)));
    }

    /** Without it. */
    public RegisteredPsf withoutRun(HistoryRun run) {
        return withRuns(runs.stream().filter(other -> !other.equals(run)));
    }

    /**
     * What of {@code from} to {@code to} neither chains nor runs index, ascending.
     *
     * @param from inclusive
     * @param to exclusive
     */
    public List<Interval> gaps(long from, long to) {
        List<Interval> covered = new ArrayList<>(intervals);
        runs.forEach(run -> covered.add(new Interval(run.from(), run.to())));
        covered.sort(Comparator.comparingLong(Interval::from));
        List<Interval> gaps = new ArrayList<>();
        long at = from;
        for (Interval interval : covered) {
            if (at < interval.from() && at < to) {
                gaps.add(new Interval(at, Math.min(to, interval.from())));
            }
            at = Math.max(at, interval.to());
        }
        if (at < to) {
            gaps.add(new Interval(at, to));
        }
        return gaps;
    }

    /** From {@code boundary} on every record is indexed. */
    public RegisteredPsf begun(long boundary) {
        List<Interval> more = new ArrayList<>(intervals);
        more.add(new Interval(boundary, Interval.OPEN));
        return with(active, more);
    }

    /** From {@code boundary} on records may be without it. */
    public RegisteredPsf ended(long boundary) {
        return with(false, cut(boundary, true));
    }

    /** No chain of it is found any more: it is indexed from {@code end} on, if it is active. */
    RegisteredPsf indexedFrom(long end) {
        RegisteredPsf none = with(active, List.of());
        return active ? none.begun(end) : none;
    }

    /** Recovery: the log ends at {@code end}, and what closed intervals say beyond it is void. */
    public RegisteredPsf clipped(long end) {
        RegisteredPsf kept = with(active, cut(end, false))
                .withRuns(runs.stream().filter(run -> run.to() <= end));
        boolean open = kept.intervals.stream().anyMatch(Interval::isOpen);
        return active && !open ? kept.begun(end) : kept;
    }

    private List<Interval> cut(long end, boolean openToo) {
        List<Interval> kept = new ArrayList<>();
        for (Interval interval : intervals) {
            if (interval.isOpen() && !openToo) {
                // The next record is indexed too: the interval may only begin where the log goes
                // on.
                kept.add(new Interval(Math.min(interval.from(), end), Interval.OPEN));
            } else if (interval.from() < end) {
                kept.add(new Interval(interval.from(), Math.min(interval.to(), end)));
            }
        }
        return kept;
    }
}
