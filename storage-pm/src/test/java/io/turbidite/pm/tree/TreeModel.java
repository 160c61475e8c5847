package io.turbidite.pm.tree;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.turbidite.core.bytes.Slice;
import io.turbidite.pm.postings.Judge;
import io.turbidite.pm.postings.PostingCursor;

import org.jspecify.annotations.Nullable;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;

/** What a tree should hold, and which entries are garbage: those of keys that were put again. */
final class TreeModel implements Judge {
    private final TreeMap<String, Set<Entry>> lists = new TreeMap<>();
    private final TreeMap<String, Set<Entry>> waiting = new TreeMap<>();
    private final Map<String, Long> newest = new HashMap<>();
    private long time;
    private long collected;
    private long marked;

    /** Oldest first. */
    record Entry(String primaryKey, long timestamp) {}

    static Slice key(int number, int bytes) {
        return Slice.of("%0{n}d"
                .replace("{n}", String.valueOf(bytes))
                .formatted(number)
                .getBytes(StandardCharsets.ISO_8859_1));
    }

    static String text(Slice key) {
        return new String(key.toByteArray(), StandardCharsets.ISO_8859_1);
    }

    private static Slice slice(String text) {
        return Slice.of(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    long time() {
        return time;
    }

    void put(Slice secondaryKey, Slice primaryKey) {
        time++;
        newest.put(text(primaryKey), time);
        waiting.computeIfAbsent(text(secondaryKey), k -> new LinkedHashSet<>())
                .add(new Entry(text(primaryKey), time));
    }

    /** Gives everything that waits to the tree, and makes it durable. */
    void absorb(PsTree tree) {
        waiting.forEach((secondaryKey, entries) -> {
            for (Entry entry : entries) {
                tree.add(slice(secondaryKey), slice(entry.primaryKey), entry.timestamp);
            }
        });
        tree.flush();
        acknowledge();
    }

    /** What waits is there. */
    void acknowledge() {
        waiting.forEach((secondaryKey, entries) ->
                lists.computeIfAbsent(secondaryKey, k -> new LinkedHashSet<>()).addAll(entries));
        waiting.clear();
    }

    @Override
    public boolean isGarbage(Slice primaryKey, long timestamp) {
        return newest.getOrDefault(text(primaryKey), 0L) > timestamp;
    }

    @Override
    public void collected(Slice primaryKey, boolean wasMarked) {
        collected++;
    }

    @Override
    public void marked(Slice primaryKey) {
        marked++;
    }

    long collectedCount() {
        return collected;
    }

    long markedCount() {
        return marked;
    }

    private boolean isGarbage(Entry entry) {
        return newest.getOrDefault(entry.primaryKey, 0L) > entry.timestamp;
    }

    /**
     * Checks what a cursor found in a range: in order, and no key is left out that has an entry
     * which is no garbage.
     */
    void checkRange(
            @Nullable Slice from, @Nullable Slice to, boolean isDescending, List<String> found) {
        NavigableMap<String, Set<Entry>> range = isDescending ? lists.descendingMap() : lists;
        List<String> expected = new ArrayList<>();
        for (Map.Entry<String, Set<Entry>> list : range.entrySet()) {
            String key = list.getKey();
            boolean isInside = (from == null || key.compareTo(text(from)) >= 0)
                    && (to == null || key.compareTo(text(to)) < 0);
            boolean isLive = !list.getValue().stream().allMatch(this::isGarbage);
            if (isInside && (isLive || found.contains(key))) {
                expected.add(key);
            }
        }
        assertEquals(expected, found);
    }

    /** Every list has its live entries, newest first, and nothing that never was. */
    void check(PsTree tree) {
        checkAtLeast(tree, lists);
        TreeCursor keys = tree.keys();
        keys.open(null, null, false);
        String before = "";
        while (keys.next()) {
            String key = text(keys.key());
            assertTrue(key.compareTo(before) > 0, "order");
            assertTrue(lists.containsKey(key), key);
            assertEquals(keys.pointer(), tree.find(slice(key)), key);
            before = key;
        }
    }

    private void checkAtLeast(PsTree tree, Map<String, Set<Entry>> expected) {
        PostingCursor list = tree.postings();
        expected.forEach((key, entries) -> {
            List<Entry> found = new ArrayList<>();
            list.open(tree.find(slice(key)));
            while (list.next()) {
                Entry entry = new Entry(text(list.primaryKey()), list.timestamp());
                assertTrue(entries.contains(entry) || isWaiting(key, entry), "never was: " + entry);
                if (!list.isMarked() && !isGarbage(entry) && !isWaiting(key, entry)) {
                    found.add(entry);
                } else if (list.isMarked()) {
                    assertTrue(isGarbage(entry), "marked: " + entry);
                }
            }
            List<Entry> live = new ArrayList<>(entries)
                    .reversed().stream().filter(entry -> !isGarbage(entry)).toList();
            assertEquals(live, found, key);
        });
    }

    private boolean isWaiting(String key, Entry entry) {
        return waiting.getOrDefault(key, Set.of()).contains(entry);
    }

    /** As {@link #check}, in the middle of an absorption: what waits is there or not. */
    void checkAfterCrash(PsTree tree) {
        checkAtLeast(tree, lists);
        TreeCursor keys = tree.keys();
        keys.open(null, null, true);
        while (keys.next()) {
            String key = text(keys.key());
            assertTrue(lists.containsKey(key) || waiting.containsKey(key), key);
        }
    }
}
