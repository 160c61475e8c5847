package io.turbidite.ops.join;

import io.turbidite.core.Cleanup;
import io.turbidite.ops.frame.FrameSource;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * A join whose rows several branches of a stage read: a stage before it holds one side, and
 * then the rows that pass by are shared out. They are not where that brings nothing or can't be:
 * where held rows were spilled, or none are there, or the other side is read by their keys. Then
 * the first branch has all of it.
 *
 * <p>The stage before is <em>confined to one thread</em>; each opener to one, behind it.
 */
public final class SharedJoin implements FrameSource {
    private final Supplier<HashJoin> opener;
    private final Sharing sharing;
    private final int branchCount;
    private final Runnable alone;
    private final List<HashJoin> joins = new ArrayList<>();
    private @Nullable HashJoin whole;
    private boolean built;

    /** Shares a join out. */
    @FunctionalInterface
    public interface Sharing {
        /**
         * A join {@link HashJoin#beside beside} the whole one.
         *
         * @param branch which, from 0
         */
        HashJoin beside(HashJoin whole, int branch);
    }

    /**
     * @param opener makes the whole join
     * @param alone done where the first branch has all of it, before that begins
     */
    public SharedJoin(Supplier<HashJoin> opener, Sharing sharing, int branchCount, Runnable alone) {
        this.alone = alone;
        this.opener = opener;
        this.sharing = sharing;
        this.branchCount = branchCount;
    }

    /** What a branch of the stage behind reads. */
    public JoinOpener branch(int branch) {
        return new JoinOpener() {
            @Override
            public HashJoin open() {
                return joins.get(branch);
            }

            @Override
            public boolean hasNothing() {
                return built && branch >= joins.size();
            }

            @Override
            public void close() {
                if (branch < joins.size()) {
                    joins.get(branch).close();
                }
            }
        };
    }

    @Override
    public void open() {
        // the first step opens the join
    }

    @Override
    public boolean step() {
        HashJoin join = whole;
        if (join == null) {
            join = opener.get();
            whole = join;
        }
        if (!join.build()) {
            return true;
        }
        if (join.isShareable()) {
            for (int i = 0; i < branchCount; i++) {
                joins.add(sharing.beside(join, i));
            }
            join.close();
        } else {
            joins.add(join);
            alone.run();
        }
        built = true;
        return false;
    }

    @Override
    public boolean isPaused() {
        return !built && whole != null;
    }

    /** Releases what no branch has. */
    @Override
    public void close() {
        HashJoin join = whole;
        if (!built && join != null) {
            new Cleanup().addAll(joins, HashJoin::close).add(join::close).run();
        }
    }
}
