package io.turbidite.feeds.command;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.feeds.command.Command.Result;
import io.turbidite.feeds.command.common.ExitCode;
import io.turbidite.feeds.command.common.Interrupts;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.zip.GZIPOutputStream;

/** Damage and cuts of what feeds and {@code log ingest} read: always told, never taken for the end. */
class DamagedSourceTest {
    private static final int ROW_COUNT = 100_000;

    @TempDir
    private Path directory;

    private Path log;
    private byte[] rows = new byte[0];

    @BeforeEach
    void write() throws IOException {
        log = directory.resolve("log");
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < ROW_COUNT; i++) {
            text.append(i).append(",\"a\nb").append(i * 7919 % ROW_COUNT).append("\"\n");
        }
        rows = text.toString().getBytes(StandardCharsets.UTF_8);
    }

    private static byte[] gzip(byte[] bytes) throws IOException {
        ByteArrayOutputStream compressed = new ByteArrayOutputStream();
        try (GZIPOutputStream gzip = new GZIPOutputStream(compressed)) {
            gzip.write(bytes);
        }
        return compressed.toByteArray();
    }

    private static byte[] join(byte[] first, byte[] second) {
        byte[] both = Arrays.copyOf(first, first.length + second.length);
        System.arraycopy(second, 0, both, first.length, second.length);
        return both;
    }

    private Result ingest(String name, byte[] bytes) throws IOException {
        Path file = directory.resolve(name);
        Files.write(file, bytes);
        return Command.run(
                "log", "ingest", log, file, "--parser", "csv(\",\", id:number, text)", "--json");
    }

    private void assertTold(Result result, String found) {
        assertThat(result.code()).as(result.err()).isEqualTo(ExitCode.FAILED);
        assertThat(result.errLines()).hasSize(2);
        assertThat(result.errLines().getFirst())
                .contains(" is damaged: compressed content should be gzip but is " + found);
        assertThat(result.errLines().getLast())
                .isEqualTo(
                        "  mend the file and ingest it into a new log: what was read behind the damage, before a checksum told it, may be wrong");
    }

    @Test
    void rows_before_a_cut_of_gzip_are_in_the_log_and_the_cut_is_told() throws IOException {
        byte[] whole = gzip(rows);
        Result cut = ingest("rows.csv.gz", Arrays.copyOf(whole, whole.length - 9));
        assertTold(cut, "cut in the middle of a member");
        // all but what the last, lost block of the compression had
        assertThat(cut.json().path("records").asLong()).isGreaterThan(ROW_COUNT - 10_000L);
    }

    @Test
    void a_later_member_that_is_cut_anywhere_ends_the_ingestion_with_all_rows_before_it()
            throws IOException {
        byte[] small = "1,one\n2,two\n".getBytes(StandardCharsets.UTF_8);
        byte[] member = gzip(small);
        for (int length : new int[] {1, 2, 5, 9, 10, 12, member.length - 5}) {
            Result cut = ingest("rows.csv.gz", join(member, Arrays.copyOf(member, length)));
            assertTold(cut, "cut in");
            assertThat(cut.json().path("records").asLong()).as("%d", length).isBetween(2L, 4L);
        }
        byte[] flipped = member.clone();
        flipped[0] ^= 4;
        Result damaged = ingest("rows.csv.gz", join(member, flipped));
        assertTold(damaged, "neither a member nor zeros alone behind a member");
        assertThat(damaged.json().path("records").asLong()).isEqualTo(2);
    }

    @Test
    void a_name_of_gzip_with_other_content_is_damage() throws IOException {
        byte[] flipped = gzip("1,one\n".getBytes(StandardCharsets.UTF_8));
        flipped[0] ^= 0x10;
        String found = "content that does not begin as gzip does, though the name ends in .gz";
        assertTold(ingest("rows.csv.gz", flipped), found);
        assertTold(ingest("rows.csv.GZ", "1,one\n".getBytes(StandardCharsets.UTF_8)), found);
        assertTold(ingest("rows.csv.gz", new byte[0]), found);
        assertTold(ingest("rows.csv.gz", new byte[] {0x1f}), found);
        assertThat(ingest("rows.gz.csv", "1,one\n".getBytes(StandardCharsets.UTF_8))
                        .code())
                .isZero();
    }

    @Test
    void gzip_on_standard_input_is_refused() throws IOException {
        byte[] given = gzip("1,one\n".getBytes(StandardCharsets.UTF_8));
        Object[] args = {"log", "ingest", log, "-"};
        Result result = Command.run(
                new ByteArrayInputStream(given), Path.of(""), false, Interrupts.none(), args);
        assertThat(result.code()).as(result.err()).isEqualTo(ExitCode.USAGE);
        assertThat(result.errLines())
                .containsExactly(
                        "turbidite: standard input is gzip, which is read from files alone: give the file, or gunzip -c FILE | ./turbidite log ingest ... -");
    }

    @Test
    void standard_input_that_fails_is_not_its_end() {
        InputStream failing = new InputStream() {
            private boolean given;

            @Override
            public int read() {
                throw new AssertionError("reads arrays only");
            }

            @Override
            public int read(byte[] into, int offset, int count) throws IOException {
                if (given) {
                    throw new IOException("the device is gone");
                }
                given = true;
                byte[] line = "{\"id\":1}\n{\"id\":".getBytes(StandardCharsets.UTF_8);
                System.arraycopy(line, 0, into, offset, line.length);
                return line.length;
            }
        };
        Object[] args = {"log", "ingest", log, "-", "--json"};
        Result result = Command.run(failing, Path.of(""), false, Interrupts.none(), args);
        assertThat(result.code()).as(result.err()).isEqualTo(ExitCode.FAILED);
        assertThat(result.err()).contains("standard input", "the device is gone");
        assertThat(result.json().path("records").asLong()).isEqualTo(1);
    }

    @Test
    void a_quote_that_is_open_at_the_end_of_standard_input_is_refused() {
        Result result = Command.runPiped(
                "1,one\n2,\"tw\no",
                "log",
                "ingest",
                log,
                "-",
                "--parser",
                "csv(\",\", id:number, text)",
                "--psf",
                "text=field(text)");
        // the line of the quote is given up, and what follows is read
        assertThat(result.out()).contains("2 records ", "1 rejected");
        assertThat(result.err()).contains("refused: standard input, byte 6: ");
    }

    @Test
    void a_damaged_log_is_told_by_what_reads_it_as_a_source() throws IOException {
        Path feed = directory.resolve("numbers.yaml");
        Files.writeString(feed, Command.NUMBERS_FEED);
        Files.writeString(directory.resolve("numbers.json"), Command.NUMBERS);
        Path store = directory.resolve("store");
        assertThat(Command.run("run", feed, "--store", store).code()).isZero();
        StringBuilder lines = new StringBuilder();
        for (int i = 0; i < 200_000; i++) {
            lines.append("{\"id\":%d,\"text\":\"%d\"}\n".formatted(i, i * 7919L));
        }
        Path events = directory.resolve("events.json");
        Files.writeString(events, lines);
        assertThat(Command.run("log", "ingest", log, events).code()).isZero();
        Path segment = log.resolve("log/00000000.pages");
        byte[] bytes = Files.readAllBytes(segment);
        bytes[5 << 20] ^= 4;
        Files.write(segment, bytes);
        for (Result result : new Result[] {
            Command.run("log", "migrate", log, store, "Numbers"),
            Command.run("log", "join", log, store, "Numbers", "--on", "id", "--count"),
            Command.run("log", "query", log, "--count")
        }) {
            assertThat(result.code()).as(result.err()).isEqualTo(ExitCode.FAILED);
            assertThat(result.err()).contains("00000000.pages", "damaged");
        }
    }
}
