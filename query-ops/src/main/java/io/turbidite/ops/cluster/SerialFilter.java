package io.turbidite.ops.cluster;

import java.io.ObjectInputFilter;
import java.util.HashSet;
import java.util.Set;

/**
 * What a process of a cluster may deserialize. Jobs and messages of the engine are Java objects; a
 * stream names classes, and whatever class it names is made. So all that a run of jobs needs is
 * listed here, class by class, and nothing else is made: no deployment of jars, no order of the
 * engine's client, no operator of its own that reads or writes files.
 *
 * <p>It is the JVM's, and set once: processes of a cluster, and only they, call {@link #install}
 * when they start. <em>Immutable.</em>
 */
public final class SerialFilter implements ObjectInputFilter {
    private static final long DEPTH_MAX = 60;
    private static final long REFERENCE_COUNT_MAX = 200_000;
    private static final long ARRAY_LENGTH_MAX = 1 << 20;

    private static final String ENGINE = "org.apache.hyracks.";

    private static final Set<String> ALLOWED = allowed();

    private SerialFilter() {}

    /**
     * Sets it for this JVM, unless it is set.
     *
     * @throws ClusterException if another one is set
     */
    public static void install() {
        if (isInstalled()) {
            return;
        }
        try {
            ObjectInputFilter.Config.setSerialFilter(new SerialFilter());
        } catch (IllegalStateException e) {
            throw new ClusterException(
                    "this process has a filter of Java serialization already: start it without"
                            + " -Djdk.serialFilter",
                    e);
        }
    }

    private static boolean isInstalled() {
        return ObjectInputFilter.Config.getSerialFilter() instanceof SerialFilter;
    }

    /** Refuses to open a port of the engine's without it. */
    static void check() {
        if (!isInstalled()) {
            throw new ClusterException(
                    "a process of a cluster needs the filter of Java serialization: call"
                            + " SerialFilter.install() before anything else in it is deserialized",
                    null);
        }
    }

    private static Set<String> allowed() {
        Set<String> names = new HashSet<>();
        // ours
        for (Class<?> ours : new Class<?>[] {
            StageDescriptor.class,
            DeliveryDescriptor.class,
            RowConnector.class,
            BroadcastConnector.class,
            MergingConnector.class,
            Senders.class,
            KeyHash.class,
            KeyOrder.class,
            InTurn.class,
            JobletEnd.class,
            MemberMessage.class
        }) {
            names.add(ours.getName());
        }
        // of the engine, without its name in front
        for (String name : SerialClasses.ENGINE) {
            names.add(ENGINE + name);
        }
        names.addAll(SerialClasses.OTHERS);
        return Set.copyOf(names);
    }

    @Override
    public Status checkInput(FilterInfo info) {
        if (info.depth() > DEPTH_MAX
                || info.references() > REFERENCE_COUNT_MAX
                || info.arrayLength() > ARRAY_LENGTH_MAX) {
            return Status.REJECTED;
        }
        Class<?> type = info.serialClass();
        if (type == null) {
            return Status.UNDECIDED;
        }
        while (type.isArray()) {
            type = type.getComponentType();
        }
        return type.isPrimitive() || ALLOWED.contains(type.getName()) || isPlainFailure(type)
                ? Status.ALLOWED
                : Status.REJECTED;
    }

    /**
     * An exception of Java's own base, which a task may fail with: it runs nothing when it is made.
     * A failure that could not be read would be told to nobody, and its job would not end.
     */
    private static boolean isPlainFailure(Class<?> type) {
        return Throwable.class.isAssignableFrom(type)
                && Object.class.getModule().equals(type.getModule());
    }
}
