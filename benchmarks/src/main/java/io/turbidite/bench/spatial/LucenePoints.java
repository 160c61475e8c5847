package io.turbidite.bench.spatial;

import org.apache.lucene.document.Document;
import org.apache.lucene.document.DoublePoint;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.search.CollectorManager;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreMode;
import org.apache.lucene.search.SimpleCollector;
import org.apache.lucene.store.ByteBuffersDirectory;
import org.locationtech.jts.geom.Envelope;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Collection;

/**
 * The block k-d tree of Lucene over two doubles a point, in memory, merged into one segment.
 * Document numbers are collected, one by one; no cache of queries.
 */
final class LucenePoints implements SpatialPeer, AutoCloseable {
    private static final String PLACE = "place";

    private final ByteBuffersDirectory directory = new ByteBuffersDirectory();
    private final DirectoryReader reader;
    private final IndexSearcher searcher;

    LucenePoints(double[] xy) throws IOException {
        try (IndexWriter writer =
                new IndexWriter(directory, new IndexWriterConfig().setRAMBufferSizeMB(256))) {
            for (int i = 0; i < xy.length / 2; i++) {
                Document document = new Document();
                document.add(new DoublePoint(PLACE, xy[2 * i], xy[2 * i + 1]));
                writer.addDocument(document);
            }
            writer.forceMerge(1);
        }
        reader = DirectoryReader.open(directory);
        searcher = new IndexSearcher(reader);
        searcher.setQueryCache(null);
    }

    @Override
    public String name() {
        return "Lucene BKD";
    }

    @Override
    public long count(Envelope window) {
        Query query = DoublePoint.newRangeQuery(
                PLACE,
                new double[] {window.getMinX(), window.getMinY()},
                new double[] {window.getMaxX(), window.getMaxY()});
        try {
            return searcher.search(query, new Counters());
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    @Override
    public void close() throws IOException {
        reader.close();
        directory.close();
    }

    private static final class Counters implements CollectorManager<Counter, Long> {
        @Override
        public Counter newCollector() {
            return new Counter();
        }

        @Override
        public Long reduce(Collection<Counter> counters) {
            long sum = 0;
            for (Counter counter : counters) {
                sum += counter.count;
            }
            return sum;
        }
    }

    private static final class Counter extends SimpleCollector {
        private long count;

        @Override
        public void collect(int document) {
            count++;
        }

        @Override
        public ScoreMode scoreMode() {
            return ScoreMode.COMPLETE_NO_SCORES;
        }
    }
}
