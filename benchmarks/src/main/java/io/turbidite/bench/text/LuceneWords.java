package io.turbidite.bench.text;

import org.apache.lucene.analysis.core.WhitespaceAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.FieldType;
import org.apache.lucene.document.StringField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexOptions;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.BooleanClause;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.FSDirectory;

import java.io.IOException;
import java.nio.file.Path;

/** The same texts in Lucene: document numbers alone, no positions, no counts, no norms. */
final class LuceneWords implements AutoCloseable {
    private static final String ID = "id";
    private static final String BODY = "body";

    private final Directory directory;
    private final IndexWriter writer;
    private final boolean withWords;
    private final FieldType words = new FieldType();

    LuceneWords(Path path, boolean withWords) throws IOException {
        this.withWords = withWords;
        directory = FSDirectory.open(path);
        writer = new IndexWriter(
                directory,
                new IndexWriterConfig(new WhitespaceAnalyzer())
                        .setUseCompoundFile(false)
                        .setRAMBufferSizeMB(64));
        words.setIndexOptions(IndexOptions.DOCS);
        words.setTokenized(true);
        words.setOmitNorms(true);
        words.freeze();
    }

    void upsert(long id, String text) throws IOException {
        Document document = new Document();
        String key = Long.toString(id);
        document.add(new StringField(ID, key, Field.Store.NO));
        if (withWords) {
            document.add(new Field(BODY, text, words));
        }
        writer.updateDocument(new Term(ID, key), document);
    }

    void commit() throws IOException {
        writer.commit();
    }

    /** Bytes of all files, when there is one segment. */
    long mergedBytes() throws IOException {
        writer.forceMerge(1);
        writer.commit();
        long bytes = 0;
        for (String name : directory.listAll()) {
            bytes += directory.fileLength(name);
        }
        return bytes;
    }

    DirectoryReader open() throws IOException {
        return DirectoryReader.open(writer);
    }

    static IndexSearcher searcher(DirectoryReader reader) {
        IndexSearcher searcher = new IndexSearcher(reader);
        searcher.setQueryCache(null);
        return searcher;
    }

    static int common(IndexSearcher searcher, String a, String b) throws IOException {
        return searcher.count(new BooleanQuery.Builder()
                .add(new TermQuery(new Term(BODY, a)), BooleanClause.Occur.FILTER)
                .add(new TermQuery(new Term(BODY, b)), BooleanClause.Occur.FILTER)
                .build());
    }

    @Override
    public void close() throws IOException {
        writer.close();
        directory.close();
    }
}
