package io.turbidite.hashlog.registry;

import io.turbidite.hashlog.psf.PsfDefinition;

import java.util.ArrayList;
import java.util.List;

/**
 * A PSF that is or was registered. <em>Immutable.</em>
 *
 * @param id never reused
 * @param name as users call it; of the active PSFs only one has it
 * @param active whether new records are indexed by it
 * @param intervals where it is indexed, ascending and disjoint; the last may be open
 */
public record RegisteredPsf(
        int id, String name, PsfDefinition definition, boolean active, List<Interval> intervals) {

    public RegisteredPsf {
        intervals = List.copyOf(intervals);
    }

    /** From {@code boundary} on every record is indexed. */
    public RegisteredPsf begun(long boundary) {
        List<Interval> more = new ArrayList<>(intervals);
        more.add(new Interval(boundary, Interval.OPEN));
        return new RegisteredPsf(id, name, definition, active, more);
    }

    /** From {@code boundary} on records may be without it. */
    public RegisteredPsf ended(long boundary) {
        return new RegisteredPsf(id, name, definition, false, cut(boundary, true));
    }

    /** Recovery: the log ends at {@code end}, and what closed intervals say beyond it is void. */
    public RegisteredPsf clipped(long end) {
        RegisteredPsf kept = new RegisteredPsf(id, name, definition, active, cut(end, false));
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
