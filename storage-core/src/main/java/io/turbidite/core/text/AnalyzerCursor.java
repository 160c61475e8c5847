package io.turbidite.core.text;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;

import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.analysis.TokenStream;
import org.apache.lucene.analysis.tokenattributes.CharTermAttribute;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.io.UncheckedIOException;

/** Goes through the tokens that an analyzer of Lucene makes. <em>Confined to one thread.</em> */
final class AnalyzerCursor implements TokenCursor {
    private static final String FIELD = "text";

    private final Analyzer analyzer;
    private @Nullable TokenStream tokens;
    private final ByteSink token = new ByteSink(64, Integer.MAX_VALUE - 16);

    AnalyzerCursor(Analyzer analyzer) {
        this.analyzer = analyzer;
    }

    @Override
    public AnalyzerCursor wrap(Slice text) {
        try {
            close();
            TokenStream opened = analyzer.tokenStream(FIELD, text.toUtf8());
            tokens = opened;
            opened.reset();
            return this;
        } catch (IOException e) {
            throw new UncheckedIOException(e); // it reads a string
        }
    }

    @Override
    public boolean next() {
        TokenStream open = tokens;
        try {
            if (open == null || !open.incrementToken()) {
                close();
                return false;
            }
            token.clear().putUtf8(open.getAttribute(CharTermAttribute.class).toString());
            return true;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The analyzer gives one stream after another: the one before must be closed. */
    private void close() throws IOException {
        TokenStream open = tokens;
        tokens = null;
        if (open != null) {
            open.close();
        }
    }

    @Override
    public int byteCount() {
        return token.length();
    }

    @Override
    public void append(ByteSink sink, int byteCountMax) {
        sink.putBytes(token.segment(), 0, Math.min(token.length(), byteCountMax));
    }
}
