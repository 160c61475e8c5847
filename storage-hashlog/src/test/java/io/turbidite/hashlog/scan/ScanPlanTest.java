package io.turbidite.hashlog.scan;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.sim.Seeds;
import io.turbidite.hashlog.psf.PsfDefinition;
import io.turbidite.hashlog.registry.HistoryRun;
import io.turbidite.hashlog.registry.Interval;
import io.turbidite.hashlog.registry.RegisteredPsf;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

class ScanPlanTest {
    private static final long SEED = Seeds.of("ScanPlanTest");
    private static final PsfDefinition TYPE = PsfDefinition.parse("field(type)");

    private static RegisteredPsf psf(int id, long... borders) {
        List<Interval> intervals = new ArrayList<>();
        for (int i = 0; i < borders.length; i += 2) {
            intervals.add(new Interval(borders[i], borders[i + 1]));
        }
        return new RegisteredPsf(id, "type", TYPE, false, 1, intervals, List.of());
    }

    @Test
    void a_range_without_index_is_one_scan() {
        assertThat(ScanPlan.of(List.of(), 10, 20))
                .containsExactly(new ScanPart(10, 20, ScanPart.SCANNED));
    }

    @Test
    void gaps_between_intervals_are_scanned_newest_first() {
        assertThat(ScanPlan.of(List.of(psf(0, 20, 30, 50, Interval.OPEN)), 10, 60))
                .containsExactly(
                        new ScanPart(50, 60, 0),
                        new ScanPart(30, 50, ScanPart.SCANNED),
                        new ScanPart(20, 30, 0),
                        new ScanPart(10, 20, ScanPart.SCANNED));
    }

    @Test
    void of_two_indexes_the_deeper_one_is_taken() {
        assertThat(ScanPlan.of(List.of(psf(0, 40, Interval.OPEN), psf(3, 20, 45)), 10, 60))
                .containsExactly(
                        new ScanPart(40, 60, 0),
                        new ScanPart(20, 40, 3),
                        new ScanPart(10, 20, ScanPart.SCANNED));
    }

    @Test
    void runs_of_history_stand_in_for_chains_where_there_are_none() {
        HistoryRun first = new HistoryRun(1, 12, 20);
        HistoryRun second = new HistoryRun(2, 30, 40);
        RegisteredPsf psf = psf(0, 40, Interval.OPEN).withRun(second).withRun(first);
        assertThat(psf.gaps(10, 60)).containsExactly(new Interval(10, 12), new Interval(20, 30));
        assertThat(ScanPlan.of(List.of(psf), 10, 60))
                .containsExactly(
                        new ScanPart(40, 60, 0),
                        new ScanPart(30, 40, 0, second),
                        new ScanPart(20, 30, ScanPart.SCANNED),
                        new ScanPart(12, 20, 0, first),
                        new ScanPart(10, 12, ScanPart.SCANNED));
    }

    @Test
    void any_plan_covers_the_range_once_and_claims_no_chain_that_is_not_there() {
        SplittableRandom random = new SplittableRandom(SEED);
        for (int round = 0; round < 5_000; round++) {
            List<RegisteredPsf> psfs = new ArrayList<>();
            for (int id = 0; id < random.nextInt(4); id++) {
                List<Interval> intervals = new ArrayList<>();
                long at = random.nextInt(40);
                for (int i = 0; i < random.nextInt(4); i++) {
                    long to = at + 1 + random.nextInt(20);
                    intervals.add(new Interval(at, to));
                    at = to + 1 + random.nextInt(10);
                }
                psfs.add(new RegisteredPsf(id, "type", TYPE, false, 1, intervals, List.of()));
            }
            long from = random.nextInt(50);
            long top = from + 1 + random.nextInt(60);
            for (ScanPart part : ScanPlan.of(psfs, from, top)) {
                assertThat(part.to()).as("seed %d", SEED).isEqualTo(top);
                top = part.from();
                for (long at = part.from(); at < part.to(); at++) {
                    long address = at;
                    boolean covered = psfs.stream()
                            .filter(psf -> !part.isIndexed() || psf.id() == part.psfId())
                            .anyMatch(psf ->
                                    psf.intervals().stream().anyMatch(i -> i.contains(address)));
                    assertThat(covered).as("seed %d, %s", SEED, psfs).isEqualTo(part.isIndexed());
                }
            }
            assertThat(top).as("seed %d", SEED).isEqualTo(from);
        }
    }
}
