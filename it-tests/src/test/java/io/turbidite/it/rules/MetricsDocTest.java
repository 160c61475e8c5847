package io.turbidite.it.rules;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.file.RealDisk;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.meter.Counter;
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

    /** The first two cells of a row whose first one is a name. */
    private static final Pattern ROW = Pattern.compile("^\\| `([A-Za-z0-9.]+)` \\| (\\w+)");

    /** Name and second cell of each row, by whether the name is an event's. */
    private static Map<String, String> rows(boolean events) throws IOException {
        Map<String, String> rows = new TreeMap<>();
        for (String line : Files.readAllLines(DOCUMENT)) {
            Matcher row = ROW.matcher(line);
            if (row.find() && Character.isUpperCase(row.group(1).charAt(0)) == events) {
                assertThat(rows.put(row.group(1), row.group(2))).as(line).isNull();
            }
        }
        return rows;
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
        assertThat(rows(false)).containsExactlyInAnyOrderEntriesOf(there);

        Map<String, String> served = new TreeMap<>(rows(false));
        served.keySet().removeIf(name -> name.startsWith("hashlog.")); // no server has logs
        assertThat(scraped.types).containsExactlyInAnyOrderEntriesOf(families(served));
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
            for (String kind : List.of("tail", "file")) {
                var _ = feeds.start("""
                    feed: %s
                    dataset: { name: Lines, type: { id: int64 }, primaryKey: id }
                    source: { kind: %s, path: lines.json }
                    parser: { kind: json }
                    """.formatted(kind, kind), directory);
            }
            store.environment()
                    .tasks()
                    .await(() -> feeds.status("tail").state() == FeedState.WAITING
                            && feeds.status("file").state() == FeedState.ENDED);
        }
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

    /** What a scraper sees of an instrument, by the kind that the page gives it. */
    private static Map<String, String> families(Map<String, String> kinds) {
        Map<String, String> families = new TreeMap<>();
        kinds.forEach((name, kind) -> {
            String base = "turbidite_" + name.replace('.', '_');
            switch (kind) {
                case "counter", "total" -> families.put(base, "counter");
                case "gauge" -> families.put(base, "gauge");
                case "latency" -> {
                    families.put(base + "_seconds", "summary");
                    families.put(base + "_quantile_seconds", "gauge");
                }
                default -> throw new AssertionError(name + " is a " + kind);
            }
        });
        return families;
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
