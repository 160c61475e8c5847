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
import java.util.HexFormat;
import java.util.Locale;
import java.util.Map;
import java.util.zip.GZIPOutputStream;

/**
 * Damage and cuts of what feeds and {@code log ingest} read: always told, never taken for the end.
 */
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
                        "  nothing of that file is in the log, all before it is: mend it, then ingest it and what follows it");
    }

    private long logRecords() {
        return Command.run("log", "query", log, "--count").json().path("count").asLong();
    }

    @Test
    void nothing_of_a_damaged_gzip_file_is_in_the_log_and_the_mended_file_is_ingested_once()
            throws IOException {
        byte[] whole = gzip(rows);
        Result cut = ingest("rows.csv.gz", Arrays.copyOf(whole, whole.length - 9));
        assertTold(cut, "cut in the middle of a member");
        assertThat(cut.json().path("records").asLong()).isZero();
        byte[] flipped = whole.clone();
        flipped[whole.length / 2] ^= 1;
        assertTold(ingest("rows.csv.gz", flipped), "a member");
        assertThat(ingest("rows.csv.gz", whole).code()).isZero();
        assertThat(logRecords()).isEqualTo(ROW_COUNT);
    }

    @Test
    void a_damaged_file_among_others_ends_the_ingestion_behind_those_before_it()
            throws IOException {
        byte[] member = gzip("1,one\n2,two\n".getBytes(StandardCharsets.UTF_8));
        byte[] flipped = member.clone();
        flipped[flipped.length - 6] ^= 4;
        Path in = Files.createDirectory(directory.resolve("in"));
        Files.write(in.resolve("a.gz"), member);
        Files.write(in.resolve("b.gz"), join(member, flipped));
        Files.write(in.resolve("c.gz"), member);
        Result result = Command.run(
                "log", "ingest", log, in, "--parser", "csv(\",\", id:number, text)", "--json");
        assertTold(result, "a member whose checksum is wrong");
        assertThat(result.err()).contains("b.gz");
        assertThat(logRecords()).isEqualTo(2);
    }

    @Test
    void a_place_in_compressed_content_is_said_to_be_one() throws IOException {
        byte[] bad = "{\"id\":1}\n{\"id\":tru}\n".getBytes(StandardCharsets.UTF_8);
        Path file = directory.resolve("rows.gz");
        Files.write(file, gzip(bad));
        Result result = Command.run("log", "ingest", log, file, "--psf", "id=field(id)");
        assertThat(result.err()).contains("refused: rows.gz uncompressed, byte 9: ");
        Path plain = directory.resolve("rows.json");
        Files.write(plain, bad);
        assertThat(Command.run("log", "ingest", log, plain).err())
                .contains("refused: rows.json, byte 9: ");
    }

    @Test
    void a_later_member_that_is_cut_or_damaged_anywhere_is_told() throws IOException {
        byte[] member = gzip("1,one\n2,two\n".getBytes(StandardCharsets.UTF_8));
        for (int length : new int[] {1, 2, 5, 9, 10, 12, member.length - 5}) {
            Result cut = ingest("rows.csv.gz", join(member, Arrays.copyOf(member, length)));
            assertTold(cut, "cut in");
            assertThat(cut.json().path("records").asLong()).as("%d", length).isZero();
        }
        byte[] flipped = member.clone();
        flipped[0] ^= 4;
        Result damaged = ingest("rows.csv.gz", join(member, flipped));
        assertTold(damaged, "neither a member nor zeros alone behind a member");
    }

    @Test
    void the_check_of_a_gzip_file_ends_when_it_is_asked_to() throws IOException {
        Interrupts early = stop -> {
            stop.run();
            return Interrupts.none().watch(stop);
        };
        Files.write(directory.resolve("rows.csv.gz"), gzip(rows));
        Object[] ingest = {"log", "ingest", log, directory.resolve("rows.csv.gz"), "--json"};
        Result stopped = Command.runIn(Path.of(""), false, early, ingest);
        assertThat(stopped.code()).as(stopped.err()).isEqualTo(ExitCode.INTERRUPTED);
        assertThat(stopped.json().path("records").asLong()).isZero();
        assertThat(stopped.errLines())
                .containsExactly(
                        "stopped: the wait for the check of rows.csv.gz was ended: it was stopped");
        Files.writeString(directory.resolve("numbers.yaml"), Command.NUMBERS_FEED);
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < 50_000; i++) {
            text.append("{\"id\":").append(i).append("}\n");
        }
        Files.write(
                directory.resolve("numbers.json"),
                gzip(text.toString().getBytes(StandardCharsets.UTF_8)));
        Object[] run = {
            "run", directory.resolve("numbers.yaml"), "--store", directory.resolve("store")
        };
        Result halted = Command.runIn(Path.of(""), false, early, run);
        assertThat(halted.code()).as(halted.err()).isEqualTo(ExitCode.INTERRUPTED);
        assertThat(halted.out()).contains("0 records before it was stopped");
        assertThat(halted.err()).isEmpty();
        assertThat(Command.run(run).out()).contains("50,000 records");
    }

    private Result runFeed(byte[] source) throws IOException {
        Files.write(directory.resolve("numbers.json"), source);
        return Command.run(
                "run", directory.resolve("numbers.yaml"), "--store", directory.resolve("store"));
    }

    @Test
    void a_feed_goes_on_with_the_mended_file_where_the_damage_was() throws IOException {
        Files.writeString(directory.resolve("numbers.yaml"), Command.NUMBERS_FEED);
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < 20_000; i++) {
            text.append("{\"id\":").append(i).append("}\n");
        }
        byte[] first = gzip("{\"id\":20000}\n".getBytes(StandardCharsets.UTF_8));
        byte[] good = gzip(text.toString().getBytes(StandardCharsets.UTF_8));
        byte[] flipped = good.clone();
        flipped[3_000] ^= 1;
        Result damaged = runFeed(join(first, flipped));
        assertThat(damaged.code()).as(damaged.err()).isEqualTo(ExitCode.FAILED);
        assertThat(damaged.errLines()).hasSize(2);
        assertThat(damaged.errLines().getFirst())
                .contains("numbers.json", "is damaged: compressed content should be gzip but is ");
        assertThat(damaged.errLines().getLast())
                .isEqualTo(
                        "  put a sound copy of the source file in its place and run the command again: it goes on before the damage, of which nothing was loaded; a file that was made or compressed anew is another one, and taken if no record of this one was");
        Path store = directory.resolve("store");
        assertThat(Command.run("query", store, "Numbers", "--count").out())
                .isEqualTo("{\"count\":1}\n");
        Result mended = runFeed(join(first, good));
        assertThat(mended.out()).as(mended.err()).contains("20,000 more records");
        assertThat(Command.run("query", store, "Numbers", "--count").out())
                .isEqualTo("{\"count\":20001}\n");
        assertThat(runFeed(join(first, good)).out()).contains("nothing new");
    }

    @Test
    void a_damaged_file_is_replaced_as_its_message_says() throws IOException {
        Files.writeString(directory.resolve("numbers.yaml"), Command.NUMBERS_FEED);
        byte[] first = gzip("{\"id\":1}\n".getBytes(StandardCharsets.UTF_8));
        byte[] second = gzip("{\"id\":2}\n".getBytes(StandardCharsets.UTF_8));
        byte[] anew = gzip("{\"id\":1}\n{\"id\":2}\n".getBytes(StandardCharsets.UTF_8));
        byte[] flipped = second.clone();
        flipped[flipped.length - 6] ^= 1;
        assertThat(runFeed(join(first, flipped)).code()).isEqualTo(ExitCode.FAILED);
        Result refused = runFeed(anew);
        assertThat(refused.code()).as(refused.out()).isEqualTo(ExitCode.USAGE);
        assertThat(refused.errLines())
                .containsExactly(
                        "turbidite: numbers.json is not the file that feed numbers has read up to line 2: it begins otherwise; put that one back, or load this one by a feed of another name");
        assertThat(runFeed(join(first, second)).out()).contains("1 more record ");
        // nothing of the old one was taken: any file may come
        Files.writeString(
                directory.resolve("numbers.yaml"),
                Command.NUMBERS_FEED.replace("feed: numbers", "feed: others"));
        assertThat(runFeed(join(flipped, first)).code()).isEqualTo(ExitCode.FAILED);
        assertThat(runFeed(anew).out()).contains("2 records ");
    }

    @Test
    void letters_of_a_file_that_was_replaced_are_not_counted_with_the_new_one() throws IOException {
        Files.writeString(directory.resolve("numbers.yaml"), Command.NUMBERS_FEED);
        assertThat(runFeed("no\nno\n".getBytes(StandardCharsets.UTF_8)).code())
                .isEqualTo(ExitCode.FAILED);
        assertThat(runFeed("{\"id\":1}\nno\n".getBytes(StandardCharsets.UTF_8)).code())
                .isZero();
        Result positions = Command.run(
                "get", directory.resolve("store"), "_feeds", "[\"numbers\",\"numbers.json\"]");
        assertThat(positions.code()).as(positions.err()).isZero();
        assertThat(positions.json(0).path("records").asLong()).isEqualTo(1);
        assertThat(positions.json(0).path("rejected").asLong()).isEqualTo(1);
    }

    @Test
    void damage_of_the_first_line_is_told_as_damage_and_not_as_a_header_that_does_not_fit()
            throws IOException {
        Files.writeString(directory.resolve("trips.yaml"), Command.FEED);
        String header = Command.ROWS.substring(0, Command.ROWS.indexOf('\n') + 1);
        byte[] good = gzip(header.getBytes(StandardCharsets.UTF_8));
        byte[] other = gzip(header.toUpperCase(Locale.ROOT).getBytes(StandardCharsets.UTF_8));
        Object[] args = {
            "run", directory.resolve("trips.yaml"), "--store", directory.resolve("store")
        };
        Files.write(directory.resolve("trips.csv"), other);
        assertThat(Command.run(args).err()).contains("trips.yaml", "does not fit");
        System.arraycopy(
                good, good.length - 8, other, other.length - 8, 8); // as if a line of other bits
        Files.write(directory.resolve("trips.csv"), other);
        Result damaged = Command.run(args);
        assertThat(damaged.code()).as(damaged.err()).isEqualTo(ExitCode.FAILED);
        assertThat(damaged.err()).contains("trips.csv", "a member whose checksum is wrong");
        assertThat(directory.resolve("store")).doesNotExist();
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

    /** As the programs make them, of one line. */
    private static Map<String, byte[]> packed() {
        HexFormat hex = HexFormat.of();
        return Map.of(
                "zstd -dc", hex.parseHex("28b52ffd0409410000317b7d0a00000000"),
                "xz -dc", hex.parseHex("fd377a585a000004e6d6b446"),
                "bzip2 -dc", hex.parseHex("425a683931415926535900000000"),
                "unzip -p", hex.parseHex("504b03040a0000000000"),
                "lz4 -dc", hex.parseHex("04224d186440a7"));
    }

    @Test
    void what_other_programs_compressed_is_refused_with_what_uncompresses_it() throws IOException {
        for (Map.Entry<String, byte[]> form : packed().entrySet()) {
            String label = form.getKey().replace("unz", "z").replaceAll(" .*", "");
            Result file = ingest("rows.csv", form.getValue());
            assertThat(file.code()).as("%s %s", label, file.err()).isEqualTo(ExitCode.USAGE);
            assertThat(file.errLines())
                    .containsExactly(
                            "turbidite: rows.csv in %s is compressed by %s, and only gzip is uncompressed while it is read: %s FILE > PLAIN writes its content to a file"
                                    .formatted(directory, label, form.getKey()));
            InputStream slowly = new ByteArrayInputStream(form.getValue()) {
                @Override
                public synchronized int read(byte[] into, int offset, int count) {
                    return super.read(into, offset, Math.min(1, count));
                }
            };
            Object[] args = {"log", "ingest", log, "-"};
            Result piped = Command.run(slowly, Path.of(""), false, Interrupts.none(), args);
            assertThat(piped.code()).as("%s %s", label, piped.err()).isEqualTo(ExitCode.USAGE);
            assertThat(piped.errLines())
                    .containsExactly(
                            "turbidite: standard input is compressed by %s: %s FILE | ./turbidite log ingest ... -"
                                    .formatted(label, form.getKey()));
        }
        Files.writeString(directory.resolve("numbers.yaml"), Command.NUMBERS_FEED);
        Result feed = runFeed(packed().getOrDefault("zstd -dc", new byte[0]));
        assertThat(feed.code()).isEqualTo(ExitCode.USAGE);
        assertThat(feed.err()).contains("numbers.yaml:6: source.path", "is compressed by zstd");
        assertThat(directory.resolve("store")).doesNotExist();
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
