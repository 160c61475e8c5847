package io.turbidite.bench.spatial;

import io.turbidite.bench.engine.Costs;
import io.turbidite.bench.engine.Scratch;
import io.turbidite.bench.peer.HyracksPoints;
import io.turbidite.bench.report.Report;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.geo.Metric;
import io.turbidite.core.geo.Place;
import io.turbidite.core.geo.SpatialKind;
import io.turbidite.core.log.Durability;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.IndexCursor;
import io.turbidite.core.scan.IndexEntries;
import io.turbidite.core.scan.IndexSearch;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.type.Point;
import io.turbidite.core.type.Rectangle;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreDescription.ComponentDescription;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.merge.MergePolicySpec;

import org.jspecify.annotations.Nullable;
import org.locationtech.jts.geom.Coordinate;
import org.locationtech.jts.geom.Envelope;
import org.locationtech.jts.geom.GeometryFactory;
import org.locationtech.jts.index.strtree.GeometryItemDistance;
import org.locationtech.jts.index.strtree.STRtree;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.IntConsumer;

/**
 * Windows that find about 1, 10, 26, 307, 1,984 and 10,000 points, and the ten nearest points, in
 * clustered and in uniform points: by an R-tree merged into one component, in ten of them and in
 * the memory component; by the STRtree of JTS, the MVRTreeMap of H2 and the block k-d tree of
 * Lucene, all in memory, and by the LSM R-tree of Hyracks, merged. Figures are CPU time of the
 * whole process, everything is in the cache, and the ways take turns. An entry is found when its
 * key and its timestamp are read.
 *
 * <p>Each way must find as many points as JTS, and neighbours as far away.
 */
public final class SpatialSuite {
    private static final int[] FOUND = {1, 10, 26, 307, 1_984, 10_000};
    private static final String HYRACKS = "Hyracks R-tree";
    private static final String ADDS = "the index adds, us";
    private static final int UPSERTS_MAX = 300_000;
    private static final int NEIGHBOURS = 10;
    private static final int PLACES = 256;
    private static final int CLUSTERS = 200;
    private static final int COMPONENTS = 10;

    /** CPU is counted in hundredths of a second: each figure is of so much at least. */
    private static final long MEASURED_NANOS = 200_000_000;

    private final int points;
    private final int rounds;
    private final Path directory;

    /**
     * @param points to load
     * @param rounds counted rounds; as many warm up
     * @param directory for the stores; emptied
     */
    public SpatialSuite(int points, int rounds, Path directory) {
        this.points = points;
        this.rounds = rounds;
        this.directory = directory;
    }

    public List<Report> run() throws IOException {
        List<Report> reports = new ArrayList<>();
        for (boolean isClustered : new boolean[] {true, false}) {
            reports.add(run(isClustered));
        }
        reports.add(upserts());
        return reports;
    }

    /** What an R-tree makes of an upsert, beside a B+-tree on the same two coordinates. */
    private Report upserts() {
        int count = Math.min(points, UPSERTS_MAX);
        Report report = new Report(
                        "Upserts of clustered points: CPU, us each, flushes and merges included",
                        List.of("R-tree", "B+-tree", "no index", HYRACKS))
                .setting("machine", Report.machine())
                .setting("points", "%,d in %d clusters, all new".formatted(count, CLUSTERS))
                .setting("Hyracks", "its R-tree alone, without records; flushed ten times")
                .setting("figure", "median of %d rounds, one warms up".formatted(rounds))
                .setting("command", command());
        double[] xy = Arrays.copyOf(points(new SplittableRandom(15), true), 2 * count);
        for (int round = -1; round < rounds; round++) {
            double none = upsert(null, xy, report, "no index", round);
            for (IndexSpec index : List.of(
                    IndexSpec.rtree("by_place", "place"), IndexSpec.btree("by_xy", "x", "y"))) {
                String way = index.name().equals("by_place") ? "R-tree" : "B+-tree";
                double with = upsert(index, xy, report, way, round);
                if (round >= 0) {
                    report.add(ADDS, way, with - none);
                }
            }
            Path place = Scratch.empty(directory.resolve("spatial-peer"));
            long cpu = Costs.cpuNanos();
            new HyracksPoints(place, xy).close();
            if (round >= 0) {
                report.add(ADDS, HYRACKS, (Costs.cpuNanos() - cpu) / 1e3 / count);
            }
            Scratch.delete(place);
        }
        return report;
    }

    private double upsert(
            @Nullable IndexSpec index, double[] xy, Report report, String way, int round) {
        int count = xy.length / 2;
        Path place = Scratch.empty(directory.resolve("spatial"));
        double micros;
        try (Store store = Store.open(
                place,
                StoreOptions.defaults()
                        .withDurability(Durability.BUFFERED)
                        .withWriteMemoryBytes(64 << 20)
                        .withCacheBytes(512L * count + (64 << 20)))) {
            DatasetSpec spec = DatasetSpec.named("Points")
                    .field("id", "int64")
                    .field("x", "double")
                    .field("y", "double")
                    .field("place", "point")
                    .primaryKey("id");
            Dataset dataset = store.createDataset(index == null ? spec : spec.index(index));
            RecordWriter writer = dataset.newRecordWriter();
            long cpu = Costs.cpuNanos();
            for (int i = 0; i < count; i++) {
                double x = xy[2 * i];
                double y = xy[2 * i + 1];
                writer.begin();
                writer.setLong(0, i);
                writer.setDouble(1, x);
                writer.setDouble(2, y);
                writer.setPoint(3, x, y);
                dataset.upsertRecord(writer.finish());
            }
            dataset.flush();
            micros = (Costs.cpuNanos() - cpu) / 1e3 / count;
            if (round >= 0) {
                report.add("upsert, us", way, micros);
            }
            if (round == rounds - 1 && index != null) {
                dataset.mergeAll();
                report.add("bytes an entry", way, (double) bytes(store, index.name()) / count);
            }
        }
        Scratch.delete(place);
        return micros;
    }

    private static long bytes(Store store, String name) {
        return store.describe().datasets().getFirst().partitions().stream()
                .flatMap(partition -> partition.indexes().stream())
                .filter(index -> index.name().equals(name))
                .flatMap(index -> index.components().stream())
                .mapToLong(ComponentDescription::bytes)
                .sum();
    }

    private String command() {
        return "./turbidite bench spatial --points %d --rounds %d".formatted(points, rounds);
    }

    private Report run(boolean isClustered) throws IOException {
        String shape = isClustered ? "clustered" : "uniform";
        Report report = new Report(
                        "Windows and neighbours in %s points: CPU, us a search".formatted(shape),
                        List.of(
                                "one component",
                                "ten components",
                                "memory",
                                "JTS STRtree",
                                "H2 MVRTreeMap",
                                "Lucene BKD",
                                HYRACKS))
                .setting("machine", Report.machine())
                .setting(
                        "points",
                        "%,d%s, in the cache, one thread"
                                .formatted(
                                        points,
                                        isClustered ? " in %d clusters".formatted(CLUSTERS) : ""))
                .setting("figure", "median of %d rounds".formatted(rounds))
                .setting("command", command());
        SplittableRandom random = new SplittableRandom(15);
        double[] xy = points(random, isClustered);
        STRtree jts = new STRtree();
        GeometryFactory shapes = new GeometryFactory();
        for (int i = 0; i < points; i++) {
            Coordinate at = new Coordinate(xy[2 * i], xy[2 * i + 1]);
            jts.insert(new Envelope(at), shapes.createPoint(at));
        }
        jts.build();
        Path place = Scratch.empty(directory.resolve("spatial"));
        Path peerPlace = Scratch.empty(directory.resolve("spatial-peer"));
        try (H2Points h2 = new H2Points(xy);
                LucenePoints lucene = new LucenePoints(xy);
                HyracksPoints hyracks = HyracksPoints.merged(peerPlace, xy);
                Store store = Store.open(
                        place,
                        StoreOptions.defaults()
                                .withDurability(Durability.BUFFERED)
                                .withWriteMemoryBytes(512L * points + (256 << 20))
                                .withCacheBytes(512L * points + (64 << 20)))) {
            List<SpatialPeer> peers = List.of(h2, lucene, peer(hyracks));
            Dataset merged = load(store, "Merged", xy, COMPONENTS);
            merged.mergeAll();
            Map<String, Dataset> layouts = new LinkedHashMap<>();
            layouts.put("one component", merged);
            layouts.put("ten components", load(store, "Ten", xy, COMPONENTS));
            layouts.put("memory", load(store, "Memory", xy, 0));
            Envelope[][] windows = windows(random, xy, jts);
            for (int round = -rounds; round < rounds; round++) {
                measure(layouts, peers, jts, windows, xy, round < 0 ? null : report);
            }
        }
        Scratch.delete(place);
        Scratch.delete(peerPlace);
        return report;
    }

    private static SpatialPeer peer(HyracksPoints points) {
        return new SpatialPeer() {
            @Override
            public String name() {
                return "Hyracks R-tree";
            }

            @Override
            public long count(Envelope window) {
                return points.count(
                        window.getMinX(), window.getMinY(), window.getMaxX(), window.getMaxY());
            }
        };
    }

    private double[] points(SplittableRandom random, boolean isClustered) {
        double[] xy = new double[2 * points];
        double[] middles = random.doubles(2L * CLUSTERS, 0, 1).toArray();
        for (int i = 0; i < points; i++) {
            int cluster = random.nextInt(CLUSTERS);
            double x = isClustered
                    ? middles[2 * cluster] * 300 - 150 + random.nextGaussian()
                    : random.nextDouble(-180, 180);
            double y = isClustered
                    ? middles[2 * cluster + 1] * 150 - 75 + random.nextGaussian()
                    : random.nextDouble(-90, 90);
            xy[2 * i] = x;
            xy[2 * i + 1] = y;
        }
        return xy;
    }

    /**
     * @param flushes components that they are put into; 0 leaves them in memory
     */
    private Dataset load(Store store, String name, double[] xy, int flushes) {
        Dataset dataset = store.createDataset(DatasetSpec.named(name)
                .field("id", "int64")
                .field("place", "point")
                .primaryKey("id")
                .mergePolicy(MergePolicySpec.parse("no-merge"))
                .index(IndexSpec.rtree("by_place", "place")));
        for (int i = 0; i < points; i++) {
            dataset.upsert(Map.of("id", (long) i, "place", new Point(xy[2 * i], xy[2 * i + 1])));
            if (flushes > 0 && (i + 1) % (points / flushes) == 0) {
                dataset.flush();
            }
        }
        return dataset;
    }

    /** Of each size windows around points, as wide as it takes to find about so many. */
    private static Envelope[][] windows(SplittableRandom random, double[] xy, STRtree jts) {
        Envelope[][] windows = new Envelope[FOUND.length][PLACES];
        for (int size = 0; size < FOUND.length; size++) {
            for (int i = 0; i < PLACES; i++) {
                int at = random.nextInt(xy.length / 2);
                Coordinate middle = new Coordinate(xy[2 * at], xy[2 * at + 1]);
                double low = 0;
                double high = 64;
                for (int step = 0; step < 24; step++) {
                    double half = (low + high) / 2;
                    Envelope window = new Envelope(middle);
                    window.expandBy(half);
                    if (jts.query(window).size() > FOUND[size]) {
                        high = half;
                    } else {
                        low = half;
                    }
                }
                windows[size][i] = new Envelope(middle);
                windows[size][i].expandBy(low);
            }
        }
        return windows;
    }

    private void measure(
            Map<String, Dataset> layouts,
            List<SpatialPeer> peers,
            STRtree jts,
            Envelope[][] windows,
            double[] xy,
            @Nullable Report report) {
        for (int size = 0; size < FOUND.length; size++) {
            Envelope[] asked = windows[size];
            String what = "%,d found".formatted(FOUND[size]);
            long[] found = new long[PLACES];
            add(report, what, "JTS STRtree", i -> found[i] = jts.query(asked[i]).size());
            layouts.forEach((layout, dataset) -> {
                long[] ours = new long[PLACES];
                try (ReadView view = dataset.openView()) {
                    add(report, what, layout, i -> ours[i] = count(view, asked[i]));
                }
                require(Arrays.equals(found, ours), what, layout);
            });
            for (SpatialPeer peer : peers) {
                long[] theirs = new long[PLACES];
                add(report, what, peer.name(), i -> theirs[i] = peer.count(asked[i]));
                require(Arrays.equals(found, theirs), what, peer.name());
            }
        }
        String what = "%d nearest".formatted(NEIGHBOURS);
        double[] farthest = new double[PLACES];
        GeometryFactory shapes = new GeometryFactory();
        GeometryItemDistance distance = new GeometryItemDistance();
        Coordinate[] from = new Coordinate[PLACES];
        for (int i = 0; i < PLACES; i++) {
            int at = (int) ((long) i * 7_919 % (xy.length / 2));
            // beside a point, not on it
            from[i] = new Coordinate(xy[2 * at] + 0.01, xy[2 * at + 1]);
        }
        add(report, what, "JTS STRtree", i -> {
            org.locationtech.jts.geom.Point middle = shapes.createPoint(from[i]);
            Object[] nearest =
                    jts.nearestNeighbour(new Envelope(from[i]), middle, distance, NEIGHBOURS);
            farthest[i] = Arrays.stream(nearest)
                    .mapToDouble(item -> middle.distance((org.locationtech.jts.geom.Point) item))
                    .max()
                    .orElseThrow();
        });
        layouts.forEach((layout, dataset) -> {
            double[] ours = new double[PLACES];
            try (ReadView view = dataset.openView()) {
                add(report, what, layout, i -> ours[i] = farthest(view, from[i]));
            }
            for (int i = 0; i < PLACES; i++) {
                boolean isSame = Math.abs(ours[i] - farthest[i]) <= 1e-9;
                require(isSame, what, layout);
            }
        });
    }

    private static void require(boolean isSame, String what, String layout) {
        if (!isSame) {
            throw new IllegalStateException("%s: %s finds others than JTS".formatted(what, layout));
        }
    }

    private static void add(@Nullable Report report, String what, String way, IntConsumer search) {
        long before = Costs.cpuNanos();
        long passed = 0;
        long count = 0;
        while (passed < MEASURED_NANOS) {
            for (int i = 0; i < PLACES; i++) {
                search.accept(i);
            }
            count += PLACES;
            passed = Costs.cpuNanos() - before;
        }
        if (report != null) {
            report.add(what, way, passed / 1e3 / count);
        }
    }

    private static long count(ReadView view, Envelope window) {
        IndexSearch search = new IndexSearch.Window(
                SpatialKind.POINT,
                new Rectangle(
                        window.getMinX(), window.getMinY(), window.getMaxX(), window.getMaxY()));
        long count = 0;
        try (IndexCursor entries = view.search(0, "by_place", search, FilterPredicate.none())) {
            // as queries read: all that is at hand at once
            IndexEntries together = entries.entries();
            Slice primaryKey = new Slice();
            int more = entries.nextEntries(Integer.MAX_VALUE);
            while (more > 0) {
                for (int i = 0; i < more; i++) {
                    boolean isRead = together.timestamp(i) > 0
                            && together.primaryKey(i, primaryKey).length() > 0;
                    count += isRead ? 1 : 0;
                }
                more = entries.nextEntries(Integer.MAX_VALUE);
            }
        }
        return count;
    }

    private static double farthest(ReadView view, Coordinate from) {
        IndexSearch search =
                new IndexSearch.Nearest(SpatialKind.POINT, new Place(Metric.PLANE, from.x, from.y));
        double distance = 0;
        try (IndexCursor entries = view.search(0, "by_place", search, FilterPredicate.none())) {
            for (int i = 0; i < NEIGHBOURS && entries.next(); i++) {
                distance = entries.primaryKey().length() > 0 ? entries.distance() : 0;
            }
        }
        return distance;
    }
}
