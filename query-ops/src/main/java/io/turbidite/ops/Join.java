package io.turbidite.ops;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.expr.Expression;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.expr.Given;
import io.turbidite.ops.join.JoinKind;
import io.turbidite.ops.plan.JoinPlan;
import io.turbidite.ops.plan.ResultPlan;
import io.turbidite.ops.run.RunOptions;

import java.util.ArrayList;
import java.util.List;

/**
 * The rows of two relations, put together where fields of both are equal.
 *
 * <pre>{@code
 * try (QueryResult rows = Join.inner(
 *                 Query.on(flights).where("dep_delay_min > 60").select("flight", "tailnum"),
 *                 Query.on(planes).select("tailnum", "year"))
 *         .on("tailnum")
 *         .run()) {
 *     rows.forEachJson(System.out);
 * }
 * }</pre>
 *
 * <p>The right side should be the smaller one: its rows are held in memory. Of any but
 * full joins and {@code notIn} the left rows are instead, where less than half as many are
 * expected. What does not fit is sorted on disk, with the rows of the other side that it may meet
 * ({@link RunOptions#spill}). Either side may
 * be anything that has rows: records, groups or aggregates, with a limit of its own, or another
 * join. The rows come in no
 * promised order, and have the declared fields of the left rows, then those of the right ones.
 *
 * <p>Two fields are equal as in conditions, but of one type, whole numbers of any width being one;
 * a null equals nothing, not even a null. Each side shows one moment; where both are of one source,
 * it is the same. Queries of {@link Query#on(io.turbidite.core.scan.ReadView) views} show the
 * moments of these.
 *
 * <p><em>Confined to one thread.</em> Each call changes this join and returns it; it may be run
 * often.
 */
public final class Join extends Relation {
    private final Relation left;
    private final Relation right;
    private final JoinKind kind;
    private final List<JoinPlan.Equal> on = new ArrayList<>();
    private final boolean isCross;
    private List<Expression> where = List.of();
    private boolean looksUp;

    private Join(Relation left, Relation right, JoinKind kind) {
        this(left, right, kind, false);
    }

    private Join(Relation left, Relation right, JoinKind kind, boolean isCross) {
        this.isCross = isCross;
        this.left = Given.notNull(left, "the left side of a join");
        this.right = Given.notNull(right, "the right side of a join");
        this.kind = kind;
    }

    /** Each pair of a left and a right row. */
    public static Join inner(Relation left, Relation right) {
        return new Join(left, right, JoinKind.INNER);
    }

    /** The pairs, and each left row that has no right one, with null in the right fields. */
    public static Join left(Relation left, Relation right) {
        return new Join(left, right, JoinKind.LEFT);
    }

    /**
     * The pairs, each left row that has no right one, and each right row that has no left one, with
     * null in the fields of the side that is not there. A field by whose name both sides are joined
     * has the value of either.
     */
    public static Join full(Relation left, Relation right) {
        return new Join(left, right, JoinKind.FULL);
    }

    /**
     * All pairs, without anything that must be equal. They are as many as the one side has rows
     * times the other: narrow the sides, and set a {@link Query#limit} or {@link RunOptions#stop}
     * where they may be large.
     */
    public static Join cross(Relation left, Relation right) {
        return new Join(left, right, JoinKind.INNER, true);
    }

    /** Each left row that has a right one, once; without fields of the right. */
    public static Join semi(Relation left, Relation right) {
        return new Join(left, right, JoinKind.SEMI);
    }

    /**
     * Each left row that has no right one; one with a null has none. (As {@code not exists} of SQL,
     * and not as {@code not in}.)
     */
    public static Join anti(Relation left, Relation right) {
        return new Join(left, right, JoinKind.ANTI);
    }

    /**
     * Each left row whose value is not among those of the right, as {@code not in} of SQL has it: a
     * null may be any value. So there are no rows if a right row has a null, and left rows with a
     * null are there only if the right side is empty. One field is compared with one.
     */
    public static Join notIn(Relation left, Relation right) {
        return new Join(left, right, JoinKind.NOT_IN);
    }

    /** These fields must be equal; further calls add further ones. */
    public Join on(String leftField, String rightField) {
        on.add(new JoinPlan.Equal(
                Given.notNull(leftField, "a field of the left side"),
                Given.notNull(rightField, "a field of the right side")));
        return this;
    }

    /** The fields of this name must be equal; rows have it once. */
    public Join on(String field) {
        return on(field, field);
    }

    /**
     * A condition on the fields of both rows that must hold, too, for them to meet; further calls
     * add further ones. It may stand without fields that must be equal: then all pairs are tried.
     *
     * <p>Of an inner join it is as good as a condition of a query over the pairs. Of others it is
     * another thing: a left row that it leaves no partner is there without one.
     *
     * @param condition in the language of {@link Query#where(String)}, without parameters; fields
     *     of both sides have different names, but those by which they are joined
     */
    public Join where(String condition) {
        String text = Given.notNull(condition, "a condition");
        return where(Expression.condition(text, Expression.Grammar.FIELDS));
    }

    /**
     * Adds a condition that has been read, or made: it may be longer than a text.
     *
     * @throws InvalidRequestException if it is a value, no condition
     */
    public Join where(Expression condition) {
        List<Expression> more = new ArrayList<>(where);
        more.add(Given.condition(condition));
        where = List.copyOf(more);
        return this;
    }

    /**
     * Gets the right records by their primary key, some hundred at a time, for the left rows as
     * they come: what pays where they are few beside the right records. The right side is then a
     * query of records, without order and limit, joined on all of its primary key. The rows come in
     * the order of the left ones.
     */
    public Join byLookup() {
        looksUp = true;
        return this;
    }

    /** Sets the limits of the join, and of its sides where they have none of their own. */
    @Override
    public Join with(RunOptions newOptions) {
        set(Given.notNull(newOptions, "the options of a join"));
        return this;
    }

    /**
     * The fields of the left rows, then those of the right ones.
     *
     * @throws InvalidRequestException if a side has no such field, two fields are not of one type,
     *     or two fields of the rows would have one name
     */
    @Override
    public RecordType type() {
        return JoinPlan.rowType(left.type(), right.type(), request());
    }

    @Override
    ResultPlan plan(Moments moments, RunOptions given) {
        return JoinPlan.of(
                planOf(left, moments, given), planOf(right, moments, given), request(), given);
    }

    private JoinPlan.Request request() {
        return new JoinPlan.Request(kind, on, where, isCross, looksUp);
    }

    @Override
    List<Relation> inputs() {
        return List.of(left, right);
    }

    @Override
    boolean keepsRows() {
        return true;
    }
}
