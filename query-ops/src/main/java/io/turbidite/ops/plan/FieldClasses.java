package io.turbidite.ops.plan;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What is equal to one another because each is equal to some other. <em>Confined to one
 * thread.</em>
 */
final class FieldClasses<T> {
    private final Map<T, T> parents = new HashMap<>();

    /** In the order in which they came. */
    private final List<T> members = new ArrayList<>();

    /** Makes two equal; false if they were. */
    boolean join(T a, T b) {
        T x = head(a);
        T y = head(b);
        if (x.equals(y)) {
            return false;
        }
        parents.put(y, x);
        return true;
    }

    /** Whether two are equal. */
    boolean areSame(T a, T b) {
        return head(a).equals(head(b));
    }

    private T head(T member) {
        T at = member;
        if (!parents.containsKey(at)) {
            parents.put(at, at);
            members.add(at);
        }
        T parent = parents.getOrDefault(at, at);
        while (!parent.equals(at)) {
            at = parent;
            parent = parents.getOrDefault(at, at);
        }
        return at;
    }

    /** All that were joined, or asked for. */
    List<List<T>> classes() {
        Map<T, List<T>> classes = new LinkedHashMap<>();
        for (T member : members) {
            classes.computeIfAbsent(head(member), _ -> new ArrayList<>()).add(member);
        }
        return List.copyOf(classes.values());
    }
}
