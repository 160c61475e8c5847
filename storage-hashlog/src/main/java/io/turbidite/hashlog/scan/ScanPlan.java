package io.turbidite.hashlog.scan;

import io.turbidite.hashlog.registry.HistoryRun;
import io.turbidite.hashlog.registry.Interval;
import io.turbidite.hashlog.registry.RegisteredPsf;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Which parts of an address range are read by chain walk or sorted run, and which by full scan
 * (FISH19 §7.1: the original leaves it to the caller and forgets the boundaries).
 * <em>Stateless.</em>
 *
 * <p>Every PSF that computes the wanted values counts, also one that is not registered any more:
 * where two of them are indexed, the one whose interval reaches further down is taken, so that
 * there are few parts.
 */
public final class ScanPlan {
    private ScanPlan() {}

    /**
     * The parts of {@code from} to {@code to}, newest first and without a gap.
     *
     * @param psfs all of the same definition
     */
    public static List<ScanPart> of(List<RegisteredPsf> psfs, long from, long to) {
        List<ScanPart> indexed = new ArrayList<>();
        for (RegisteredPsf psf : psfs) {
            for (Interval interval : psf.intervals()) {
                long low = Math.max(from, interval.from());
                long high = Math.min(to, interval.to());
                if (low < high) {
                    indexed.add(new ScanPart(low, high, psf.id()));
                }
            }
            for (HistoryRun run : psf.runs()) {
                long low = Math.max(from, run.from());
                long high = Math.min(to, run.to());
                if (low < high) {
                    indexed.add(new ScanPart(low, high, psf.id(), run));
                }
            }
        }
        List<ScanPart> parts = new ArrayList<>();
        long top = to;
        while (top > from) {
            ScanPart part = below(indexed, from, top);
            parts.add(part);
            top = part.from();
        }
        return parts;
    }

    /** The part that ends at {@code top}: the longest indexed one, else a gap down to the next. */
    private static ScanPart below(List<ScanPart> indexed, long from, long top) {
        long end = top;
        ScanPart deepest = indexed.stream()
                .filter(part -> part.from() < end && part.to() >= end)
                .min(Comparator.comparingLong(ScanPart::from))
                .orElse(null);
        if (deepest != null) {
            return new ScanPart(deepest.from(), end, deepest.psfId(), deepest.run());
        }
        long gapStart = from;
        for (ScanPart part : indexed) {
            if (part.to() < end) {
                gapStart = Math.max(gapStart, part.to());
            }
        }
        return new ScanPart(gapStart, end, ScanPart.SCANNED);
    }
}
