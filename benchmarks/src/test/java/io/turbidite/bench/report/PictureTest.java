package io.turbidite.bench.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.bench.report.Panels.Spot;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;

/** Pictures of reports: a panel for each unit, a name beside each row, none of aims. */
@Timeout(60)
class PictureTest {
    @TempDir
    private Path directory;

    @ParameterizedTest
    @CsvSource({
        "'upsert, us, less the compiler', us",
        "'0 % updates, us an upsert', us",
        "'query by secondary, 10 %, ms', ms",
        "'scan, ms', ms",
        "'disk: primary, record pages', ''",
        "'disk, bytes / byte of live tweets', bytes",
        "'github, GB/s', GB/s",
        "'fences an insert, one by one', fences",
        "'C, reads', ''"
    })
    void a_work_tells_its_unit(String work, String unit) {
        assertThat(Panels.unitOf(work)).isEqualTo(unit);
    }

    @Test
    void a_ratio_is_of_medians_and_its_whiskers_of_rounds() {
        assertThat(Spot.ratio(List.of(1.0, 2.0, 6.0), List.of(2.0, 8.0, 4.0)))
                .isEqualTo(new Spot(0.25, 0.5, 1.5));
        assertThat(Spot.ratio(List.of(3.0), List.of(1.0, 2.0))).isEqualTo(new Spot(2.0, 2.0, 2.0));
    }

    @Test
    void each_unit_has_a_panel_and_each_work_its_name() throws Exception {
        Report report = new Report("Some", List.of("ours", "theirs"));
        for (int round = 1; round <= 3; round++) {
            report.add("upsert, us", "ours", round);
            report.add("upsert, us", "theirs", 2.0 * round * round);
            report.add("scan, ms", "ours", 0.001 * round);
            report.add("scan, ms", "theirs", 50);
            report.add("nothing, MiB", "ours", 0);
            report.add("nothing, MiB", "theirs", 7);
            report.add("lonely, s", "ours", 7);
        }
        Files.writeString(directory.resolve("some.png"), "of a former run");
        report.write(directory, "some");
        assertThat(directory.resolve("some.md")).content().contains("](some.svg)");
        assertThat(directory.resolve("some.png")).doesNotExist();
        String drawn = Files.readString(directory.resolve("some.svg"));
        assertThat(texts(drawn)).containsExactly("upsert, us", "scan, ms");
        // a ratio of zero has no place, and what one did by itself has no ratio; two points; in
        // each panel's legend another one
        assertThat(drawn.split("<ellipse", -1)).hasSize(1 + 4);
    }

    @Test
    void one_engine_has_its_figures() throws Exception {
        Report report = new Report("Some", List.of("ours"));
        report.add("upsert, us", "ours", 3);
        report.add("upsert, us", "ours", 4);
        report.write(directory, "one");
        assertThat(texts(Files.readString(directory.resolve("one.svg"))))
                .containsExactly("upsert, us");
    }

    @Test
    void aims_have_no_picture() throws Exception {
        Aims aims = new Aims();
        aims.atMost("upsert", 0.5, 0.4);
        // an earlier run had some
        Files.writeString(directory.resolve("aims.svg"), "bars");
        Files.writeString(directory.resolve("aims.png"), "bars");
        aims.into(new Report("Aims", Aims.COLUMNS)).write(directory, "aims");
        assertThat(directory.resolve("aims.png")).doesNotExist();
        assertThat(directory.resolve("aims.md")).content().doesNotContain("svg");
        assertThat(directory.resolve("aims.svg")).doesNotExist();
    }

    @Test
    void curves_are_drawn_with_whiskers() throws Exception {
        String once = drawnCurves(1);
        String twice = drawnCurves(2);
        assertThat(directory.resolve("curves.md")).content().contains("](curves-1.svg)");
        // three whiskers; nothing of what cost nothing
        assertThat(uses(twice, "rgb\\(140,122,69\\)"))
                .isEqualTo(uses(once, "rgb\\(140,122,69\\)") + 3);
        assertThat(uses(twice, "rgb\\(91,126,164\\)")).isZero();
    }

    private String drawnCurves(int rounds) throws Exception {
        Curves curves = new Curves("Some", "n", "ms");
        for (int at = 1; at <= 100; at *= 10) {
            for (int round = 1; round <= rounds; round++) {
                curves.add("a", at, (double) round * at);
            }
            curves.add("zero", at, 0);
        }
        Curves.writeAll(directory, "curves", List.of(curves));
        return Files.readString(directory.resolve("curves-1.svg"));
    }

    private static int uses(String drawn, String colour) {
        return drawn.split(colour, -1).length - 1;
    }

    private static List<String> texts(String svg) {
        return Pattern.compile("<text[^>]*>([^<]*)</text>")
                .matcher(svg)
                .results()
                .map(found -> found.group(1))
                .toList();
    }
}
