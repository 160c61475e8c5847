package io.turbidite.ops.aggregate;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.scan.RecordStream;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.expr.TupleMaker;

import org.jspecify.annotations.Nullable;

import java.util.List;

/**
 * Tuples of two fields: a group key, and behind it what the aggregates need of the record. A record
 * that lies in several groups has the same behind each key. <em>Confined to one thread.</em>
 */
public final class AggregateTuples implements TupleMaker {
    private final TupleMaker keys;
    private final ArgumentWriter arguments;
    private final List<BoundAggregates.Argument> needed;
    private final RecordType type;
    private final Slice[] tuple = {new Slice(), new Slice()};

    /**
     * @param keys makes the group keys
     * @param arguments what lies behind them
     */
    AggregateTuples(TupleMaker keys, RecordType type, List<BoundAggregates.Argument> arguments) {
        this.keys = keys;
        this.needed = List.copyOf(arguments);
        this.type = type;
        this.arguments = new ArgumentWriter(arguments, _ -> type);
    }

    @Override
    public int @Nullable [] keyFields() {
        return keys.keyFields();
    }

    /** The same of many records, for one thread; null where an argument is not one of each. */
    public @Nullable ArgumentColumns columns() {
        for (BoundAggregates.Argument argument : needed) {
            if (argument.expression() == null && type.isEach(argument.field())) {
                return null;
            }
        }
        return new ArgumentColumns(needed);
    }

    @Override
    public int fieldCount() {
        return 2;
    }

    @Override
    public boolean isMultiple() {
        return keys.isMultiple();
    }

    @Override
    public boolean readsRecord() {
        return arguments.count() > 0 || keys.readsRecord();
    }

    @Override
    public boolean readsStream() {
        return keys.readsStream();
    }

    @Override
    public Slice[] make(RecordStream at, RecordView view) {
        Slice[] key = keys.make(at, view);
        if (key.length > 0) {
            tuple[0] = key[0];
        }
        // without arguments it is the same for all
        if (arguments.count() > 0 || tuple[1].length() == 0) {
            lay(view);
        }
        return tuple;
    }

    @Override
    public Slice @Nullable [] next() {
        Slice[] key = keys.next();
        if (key == null) {
            return null;
        }
        tuple[0] = key[0];
        return tuple;
    }

    private void lay(RecordView view) {
        arguments.begin();
        for (int i = 0; i < arguments.count(); i++) {
            arguments.put(i, view);
        }
        tuple[1] = arguments.end();
    }
}
