package io.turbidite.core.text;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;

/** The text as a whole is its one token. <em>Confined to one thread.</em> */
final class KeywordCursor implements TokenCursor {
    private Slice text = new Slice();
    private boolean isOver;

    @Override
    public KeywordCursor wrap(Slice newText) {
        text = newText;
        isOver = false;
        return this;
    }

    @Override
    public boolean next() {
        boolean found = !isOver;
        isOver = true;
        return found;
    }

    @Override
    public int byteCount() {
        return text.length();
    }

    @Override
    public void append(ByteSink sink, int byteCountMax) {
        sink.putBytes(text.segment(), text.offset(), Math.min(text.length(), byteCountMax));
    }
}
