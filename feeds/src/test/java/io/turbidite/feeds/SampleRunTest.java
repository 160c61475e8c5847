package io.turbidite.feeds;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.feeds.manage.FeedManager;
import io.turbidite.feeds.source.parcel.Parcel;
import io.turbidite.lsm.Store;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The samples of sources that go on, each run with the record that it shows or one like it. */
@Timeout(60)
class SampleRunTest {
    private static final long WAIT_MICROS = 30_000_000;
    private static final Pattern SHOWN = Pattern.compile("echo '(\\{.*})'");

    @TempDir
    private Path directory;

    private static String sample(String name) throws IOException {
        return Files.readString(Path.of("samples", name));
    }

    /** The record that the sample's head shows, with a line end. */
    private static String shown(String yaml) {
        Matcher shown = SHOWN.matcher(yaml);
        assertThat(shown.find()).isTrue();
        return shown.group(1) + "\n";
    }

    private void assertTaken(String name, String line, boolean isSent) throws IOException {
        String yaml = sample(name + ".yaml");
        try (Store store = Store.open(directory.resolve("store"));
                FeedManager feeds = FeedManager.open(store)) {
            feeds.start(yaml, directory);
            if (isSent) {
                var _ = feeds.send(
                        name, Parcel.of(line.getBytes(StandardCharsets.UTF_8)), WAIT_MICROS);
            }
            store.environment()
                    .tasks()
                    .await(() ->
                            feeds.status(name).records() + feeds.status(name).rejected() > 0);
            assertThat(feeds.status(name).rejected()).isZero();
        }
    }

    @Test
    void gauges() throws IOException {
        assertTaken("gauges", shown(sample("gauges.yaml")), true);
    }

    @Test
    void sensors() throws IOException {
        String line = "{\"sensor\":\"attic\",\"at\":\"2026-11-23T20:00:00Z\",\"celsius\":17.5}\n";
        assertTaken("sensors", line, true);
    }

    @Test
    void app_log() throws IOException {
        Files.writeString(directory.resolve("app.log"), shown(sample("app-log.yaml")));
        assertTaken("app-log", "", false);
    }

    @Test
    void piped() throws IOException {
        String yaml = sample("piped.yaml");
        InputStream before = System.in;
        System.setIn(new ByteArrayInputStream(shown(yaml).getBytes(StandardCharsets.UTF_8)));
        try (Store store = Store.open(directory.resolve("store"));
                Feed feed = Feed.open(FeedDefinition.parse("piped", directory, yaml), store)) {
            FeedReport report = feed.run(FeedProgress.none());
            assertThat(report.records()).isEqualTo(1);
            assertThat(report.rejected()).isZero();
        } finally {
            System.setIn(before);
        }
    }
}
