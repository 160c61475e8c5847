package io.turbidite.ops.sql;

import org.jspecify.annotations.Nullable;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The plans of the texts that were asked for last. A plan is taken while its sources have the types
 * that it was made for; its parameters have theirs by the text, indexes are chosen when it runs.
 * <em>Thread-safe by its monitor.</em>
 */
final class KeptPlans {
    static final int PLAN_COUNT_MAX = 256;

    /** Longer texts are seldom seen twice, and 256 of them would take all memory. */
    static final int TEXT_CHARS_MAX = 16 << 10;

    private final Map<String, Planned> byText = new Latest();

    /** Forgets the text that was not asked for the longest. */
    private static final class Latest extends LinkedHashMap<String, Planned> {
        private static final long serialVersionUID = 1L;

        Latest() {
            super(16, 0.75f, true);
        }

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Planned> eldest) {
            return size() > PLAN_COUNT_MAX;
        }
    }

    /** The plan of a text; null if there is none that holds. */
    synchronized @Nullable Planned of(String text) {
        Planned planned = byText.get(text);
        if (planned != null && planned.isOutdated()) {
            byText.remove(text);
            return null;
        }
        return planned;
    }

    /** Keeps it, but what is planned for each run. */
    synchronized Planned kept(String text, Planned planned) {
        if (text.length() <= TEXT_CHARS_MAX && !planned.isOutdated()) {
            byText.put(text, planned);
        }
        return planned;
    }
}
