package io.turbidite.it.rules;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.file.RealDisk;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.meter.Counter;
import io.turbidite.core.meter.Description;
import io.turbidite.core.meter.Instrument;
import io.turbidite.core.meter.Latency;
import io.turbidite.core.meter.Meters;
import io.turbidite.core.meter.Reading;
import io.turbidite.core.meter.StoreEvent;
import io.turbidite.core.meter.StoreEvents;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.IndexCursor;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.TermSearch;
import io.turbidite.core.task.Tasks;
import io.turbidite.core.task.ThreadTasks;
import io.turbidite.core.time.Clock;
import io.turbidite.feeds.health.Findings;
import io.turbidite.feeds.manage.FeedManager;
import io.turbidite.feeds.manage.FeedState;
import io.turbidite.feeds.web.FilesRoot;
import io.turbidite.feeds.web.ServedStores;
import io.turbidite.feeds.web.WebServer;
import io.turbidite.feeds.web.access.Gate;
import io.turbidite.feeds.web.http.HttpOptions;
import io.turbidite.feeds.web.tcp.TcpOptions;
import io.turbidite.feeds.web.tcp.TcpServer;
import io.turbidite.hashlog.HashLog;
import io.turbidite.hashlog.HashLogOptions;
import io.turbidite.hashlog.log.LogOptions;
import io.turbidite.hashlog.log.LogShape;
import io.turbidite.hashlog.log.LogSite;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.ops.Predicates;
import io.turbidite.ops.Query;
import io.turbidite.ops.QueryResult;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** {@code docs/metrics.md} names the instruments and events that there are, and no others. */
class MetricsDocTest {
    private static final Path DOCUMENT = Objects.requireNonNull(
                    Path.of("").toAbsolutePath().getParent())
            .resolve("docs/metrics.md");

    /** The first three cells of a row whose first one is a name; the third may be empty. */
    private static final Pattern ROW =
            Pattern.compile("^\\| `([A-Za-z0-9.]+)` \\| ([^|]*) \\| (|.*? )\\|");

    /** A link of the page, of which its text is seen. */
    private static final Pattern LINK = Pattern.compile("\\[([^]]*)]\\([^)]*\\)");

    /** The last cell of a row of the five or four of an instrument. */
    private static final Pattern WORRY = Pattern.compile("^\\| `([a-z0-9.]+)` \\|.*\\|([^|]*)\\|$");

    /** Metrics whose "worry when" is no rule, and why. */
    private static final Map<String, String> NO_RULE = Map.ofEntries(
            Map.entry("write.bytes", "no figure says whether writers run"),
            Map.entry("write.amplification.percent", "what is well hangs on policy and data"),
            Map.entry("log.bytes.zero", "log.segments.made has the rule of both"),
            Map.entry("repair.entries.spared", "no figure says which policy a dataset has"),
            Map.entry("merge.for.garbage", "the cause is in the event, not in the figure"),
            Map.entry("retention.components", "no figure says how old records are"),
            Map.entry("filter.layers.passed", "no figure says which queries are of recent data"),
            Map.entry("token.components.passed", "no figure says which tokens are rare"),
            Map.entry("feed.workers", "workersMax is in the feed's definition"),
            Map.entry("hashlog.ingest.rejected", "no server has logs"),
            Map.entry("hashlog.ingest.stalls", "no server has logs"),
            Map.entry("hashlog.session.stalls", "no server has logs"),
            Map.entry("hashlog.chain.contended", "no server has logs"),
            Map.entry("hashlog.durable", "no server has logs"),
            Map.entry("hashlog.disk.direct", "no server has logs"),
            Map.entry("hashlog.table.overflow", "no server has logs"),
            Map.entry("hashlog.checkpoint.failures", "no server has logs"),
            Map.entry("hashlog.history.damaged", "no server has logs"));

    private static final long FEEDS_MILLIS_MAX = 30_000;

    /** What each row says in plain text, by name; of instruments, or of events. */
    private static Map<String, Description> rows(boolean events) throws IOException {
        Map<String, Description> rows = new TreeMap<>();
        for (String line : Files.readAllLines(DOCUMENT)) {
            Matcher row = ROW.matcher(line);
            if (row.find() && Character.isUpperCase(row.group(1).charAt(0)) == events) {
                String[] kind = row.group(2).split(", ", 2);
                Description read = new Description(
                        row.group(1),
                        kind[0],
                        kind.length < 2 ? "" : kind[1],
                        LINK.matcher(row.group(3))
                                .replaceAll("$1")
                                .replace("`", "")
                                .strip());
                assertThat(rows.put(read.name(), read)).as(line).isNull();
            }
        }
        return rows;
    }

    @Test
    void the_page_has_the_kinds_units_and_words_of_the_table_in_code() throws IOException {
        assertThat(rows(false).values()).containsExactlyInAnyOrderElementsOf(Description.all());
        assertThat(Description.all()).extracting(Description::exportedName).doesNotHaveDuplicates();
    }

    @Test
    void what_the_page_worries_about_is_a_rule_or_has_a_reason_why_not() throws IOException {
        Set<String> worries = new TreeSet<>();
        for (String line : Files.readAllLines(DOCUMENT)) {
            Matcher row = WORRY.matcher(line);
            if (row.find() && !row.group(2).isBlank()) {
                worries.add(row.group(1));
            }
        }
        Set<String> told = new TreeSet<>(Findings.metrics());
        assertThat(told).doesNotContainAnyElementsOf(NO_RULE.keySet());
        told.addAll(NO_RULE.keySet());
        assertThat(told).isEqualTo(worries);
    }

    @Test
    void every_instrument_is_described_with_its_kind_and_no_other(@TempDir Path directory)
            throws IOException {
        Map<String, String> there = new TreeMap<>();
        OpenMetricsText scraped;
        try (Store store = Store.open(
                directory.resolve("store"), StoreOptions.defaults().withDirectIo(true))) {
            searchWithFilter(store);
            feed(store, directory);
            assertThat(store.verify().isOk()).isTrue();
            note(store.meters(), there);
            try (FeedManager feeds = FeedManager.open(store)) {
                feeds.startKept();
                scraped = noteServer(store, feeds, there);
            }
        }
        note(metersOfLog(directory), there);
        Map<String, String> described = new TreeMap<>();
        Description.all().forEach(one -> described.put(one.name(), one.kind()));
        assertThat(described).containsExactlyInAnyOrderEntriesOf(there);

        List<Description> served = Description.all().stream()
                .filter(one -> !one.name().startsWith("hashlog.")) // no server has logs
                .toList();
        Families expected = Families.of(served);
        assertThat(scraped.types).containsExactlyInAnyOrderEntriesOf(expected.types);
        assertThat(scraped.units).containsExactlyInAnyOrderEntriesOf(expected.units);
        assertThat(scraped.texts).containsExactlyInAnyOrderEntriesOf(expected.texts);
        Matcher queried = Pattern.compile("turbidite_[a-z0-9_]+")
                .matcher(Files.readString(DOCUMENT.resolveSibling("grafana.json")));
        Set<String> names = new TreeSet<>();
        while (queried.find()) {
            names.add(queried.group());
        }
        assertThat(names).hasSizeGreaterThan(15);
        assertThat(scraped.samples).as("what docs/grafana.json asks for").containsAll(names);
        assertThat(scraped.seriesCount()).isBetween(served.size(), 2_000);
    }

    /** Some come with the first search of an index, some with the first check. */
    private static void searchWithFilter(Store store) {
        Dataset dataset = store.createDataset(DatasetSpec.named("T")
                .field("id", "int64")
                .field("n", "int32")
                .field("text", "string")
                .primaryKey("id")
                .filter("n")
                .index(IndexSpec.inverted("by_word", "text")));
        dataset.upsert(Map.of("id", 1L, "n", 0, "text", "one"));
        dataset.flush();
        try (QueryResult rows =
                Query.on(dataset).where(Predicates.above("n", 1)).run()) {
            assertThat(rows.next()).isFalse();
        }
        try (ReadView view = dataset.openView();
                IndexCursor found = view.search(
                        0, "by_word", new TermSearch(List.of("two")), FilterPredicate.none())) {
            assertThat(found.next()).isFalse();
        }
    }

    /** Some come with the first feed. */
    private static void feed(Store store, Path directory) throws IOException {
        Files.writeString(directory.resolve("lines.json"), "{\"id\":1}\n");
        try (FeedManager feeds = FeedManager.open(store)) {
            for (String kind : List.of("tail", "file", "http")) {
                var _ = feeds.start(
                        """
                    feed: %s
                    dataset: { name: Lines, type: { id: int64 }, primaryKey: id }
                    source: { kind: %s%s }
                    parser: { kind: json }
                    """.formatted(kind, kind, kind.equals("http") ? "" : ", path: lines.json"),
                        directory);
            }
            awaitState(store, feeds, "tail", FeedState.WAITING);
            awaitState(store, feeds, "file", FeedState.ENDED);
            awaitState(store, feeds, "http", FeedState.WAITING);
        }
    }

    private static void awaitState(Store store, FeedManager feeds, String feed, FeedState wanted) {
        Clock clock = store.environment().clock();
        long end = clock.monotonicNanos() + FEEDS_MILLIS_MAX * 1_000_000;
        store.environment()
                .tasks()
                .await(() -> feeds.status(feed).state() == wanted
                        || feeds.status(feed).state() == FeedState.FAILED
                        || clock.monotonicNanos() - end > 0);
        assertThat(feeds.status(feed).state())
                .as("feed %s: %s", feed, feeds.status(feed))
                .isEqualTo(wanted);
    }

    /** Those of routes come with the first request. */
    private static OpenMetricsText noteServer(
            Store store, FeedManager feeds, Map<String, String> kinds) throws IOException {
        WebServer.Options options = new WebServer.Options(
                List.of(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)),
                List.of(),
                HttpOptions.defaults(),
                Gate.withoutTokens(),
                null,
                FilesRoot.none());
        try (WebServer server = WebServer.start(
                        new ServedStores(Map.of("store", store), Map.of("store", feeds)),
                        options,
                        Clock.system());
                TcpServer lines = TcpServer.start(
                        new TcpServer.Parts(
                                TcpOptions.defaults(),
                                Map.of("store", feeds),
                                Gate.withoutTokens(),
                                null,
                                server.meters()),
                        List.of())) {
            assertThat(lines.addresses()).isEmpty();
            assertThat(get(server, "/")).isNotEmpty();
            OpenMetricsText scraped = OpenMetricsText.parse(get(server, "/metrics"));
            note(server.meters(), kinds);
            return scraped;
        }
    }

    private static String get(WebServer server, String path) throws IOException {
        InetSocketAddress at = server.addresses().getFirst();
        try (Socket client = new Socket(at.getAddress(), at.getPort())) {
            client.getOutputStream()
                    .write(
                            "GET %s HTTP/1.0\r\nHost: localhost\r\nAccept: application/openmetrics-text\r\nConnection: close\r\n\r\n"
                                    .formatted(path)
                                    .getBytes(StandardCharsets.US_ASCII));
            String answer =
                    new String(client.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            return answer.substring(answer.indexOf("\r\n\r\n") + 4);
        }
    }

    /** What a scraper sees of instruments, by the names that it sees. */
    private static final class Families {
        private final Map<String, String> types = new TreeMap<>();
        private final Map<String, String> units = new TreeMap<>();
        private final Map<String, String> texts = new TreeMap<>();

        static Families of(List<Description> described) {
            Families all = new Families();
            described.forEach(all::add);
            return all;
        }

        private void add(Description one) {
            String base = "turbidite_" + one.exportedName().replace('.', '_');
            String unit = one.baseUnit();
            switch (one.kind()) {
                case "counter", "total" -> add(base, "counter", unit, one.text());
                case "gauge" -> add(base, "gauge", unit, one.text());
                case "latency" -> {
                    add(base + "_seconds", "summary", unit, one.text());
                    add(
                            base + "_quantile_seconds",
                            "gauge",
                            unit,
                            one.text() + "; of the last 60 seconds");
                }
                default -> throw new AssertionError(one + " is of no kind");
            }
        }

        private void add(String family, String type, @Nullable String unit, String text) {
            types.put(family, type);
            texts.put(family, text);
            if (unit != null) {
                units.put(family, unit);
            }
        }
    }

    private static void note(Meters meters, Map<String, String> kinds) {
        for (Instrument instrument : meters.instruments()) {
            kinds.put(
                    instrument.name(),
                    switch (instrument) {
                        case Counter counter -> "counter";
                        case Latency latency -> "latency";
                        case Reading reading -> reading.isTotal() ? "total" : "gauge";
                    });
        }
    }

    private static Meters metersOfLog(Path directory) throws IOException {
        Meters meters = new Meters();
        LogOptions pages = LogOptions.of(new LogShape(64 << 10, 8, 4)).withDirectIo(true);
        Path place = Files.createDirectory(directory.resolve("log"));
        try (Tasks tasks = ThreadTasks.create("metrics")) {
            LogSite site = new LogSite(
                    "metrics",
                    RealDisk.open(place),
                    "log",
                    tasks,
                    Clock.system(),
                    MemoryBudget.of(256 << 20),
                    meters,
                    new StoreEvents());
            HashLogOptions options =
                    HashLogOptions.defaults().withLog(pages).withTable(8, 16 << 20);
            HashLog.create(site, options, 1).close();
        }
        return meters;
    }

    @Test
    void every_event_is_described_and_no_other() throws IOException {
        Set<String> there = new TreeSet<>();
        Arrays.stream(StoreEvent.class.getPermittedSubclasses())
                .map(Class::getSimpleName)
                .forEach(there::add);
        assertThat(rows(true).keySet()).containsExactlyInAnyOrderElementsOf(there);
    }
}
