package io.turbidite.ops.plan;

import io.turbidite.ops.frame.OperatorMeter;
import io.turbidite.ops.join.HashJoin;
import io.turbidite.ops.run.CallTimer;
import io.turbidite.ops.run.RunOptions;

import org.jspecify.annotations.Nullable;

import java.util.List;

/** Makes a join whose rows one reads, or several. <em>Confined to one thread.</em> */
interface Joining {
    /** The join of all rows. */
    HashJoin whole();

    /** What its rows are counted by. */
    OperatorMeter joined();

    /** What the join may use. */
    RunOptions options();

    /**
     * The query that passes by, where others may read some of its partitions each; null: one reads
     * it.
     */
    @Nullable
    Plan dividable();

    /**
     * A join {@link HashJoin#beside beside} another one.
     *
     * @param branches the partitions of what passes by, as {@link #branches} has dealt them
     * @param branch which of them it reads
     */
    HashJoin beside(HashJoin whole, List<List<Integer>> branches, int branch);

    /** Of one who reads the join; null: nobody asks for its time. */
    default @Nullable CallTimer newTimer() {
        return CallTimer.of(options(), joined());
    }

    /** As {@link #newTimer}, of one who reads it by batches. */
    default @Nullable CallTimer newBatchTimer() {
        return CallTimer.ofBatches(options(), joined());
    }

    /**
     * The partitions of the side that passes by, dealt out to branches, two or more of them; none
     * where one reads the whole join.
     *
     * @param reader what those who read the join may use
     * @param bytesOfEach what each branch must have of their memory
     */
    default List<List<Integer>> branches(RunOptions reader, long bytesOfEach) {
        Plan passing = reader.tasks() == null ? null : dividable();
        if (passing == null) {
            return List.of();
        }
        long fitting = Math.max(1, reader.memoryBytesMax() / bytesOfEach);
        int count = (int) Math.min(fitting, passing.branchCount(bytesOfEach));
        return count == 1 ? List.of() : passing.partitions(count);
    }
}
