package io.turbidite.lsm.write;

import io.turbidite.lsm.partition.Partition;

import java.util.Arrays;

/** What tests see and do inside a write. Stateless. */
public final class WriteInside {
    private WriteInside() {}

    /** The stripes that it locked last, ascending. */
    public static int[] stripes(Write write) {
        return Arrays.copyOf(write.stripes, write.stripeCount);
    }

    /** Lets it break after its claim, before it enters a gate. */
    public static void breakAtGates(Write write) {
        write.partitions = new Partition[0];
    }
}
