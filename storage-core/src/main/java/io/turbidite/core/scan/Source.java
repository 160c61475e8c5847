package io.turbidite.core.scan;

import io.turbidite.core.key.KeyForm;
import io.turbidite.core.type.RecordType;

import org.jspecify.annotations.Nullable;

import java.util.List;

/** A readable collection of records of one open type. <em>Thread-safe.</em> */
public interface Source {
    /** Its name, unique in its store. */
    String name();

    /** The declared fields of its records. */
    RecordType type();

    /** Names of the primary key's fields, in key order; all declared. */
    List<String> primaryKey();

    /** How primary keys and the bounds of filters are encoded. */
    default KeyForm keyForm() {
        return KeyForm.CURRENT;
    }

    /** Names of the filter fields; may be empty. */
    List<String> filterFields();

    /** Its secondary indexes that may be searched. */
    List<IndexDescription> indexes();

    /** What it has for queries of its records; null: nothing. */
    default @Nullable QueryMeans means() {
        return null;
    }

    /** Registers a snapshot of this moment (D3). Close it soon: it keeps old versions alive. */
    ReadView openView();
}
