package io.turbidite.it.query;

import io.turbidite.core.key.KeyForm;
import io.turbidite.core.scan.IndexDescription;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.Source;
import io.turbidite.core.type.RecordType;

import java.util.List;

/** A dataset whose queries have nothing but what their options say. */
record SourceWithoutMeans(Source of) implements Source {
    @Override
    public String name() {
        return of.name();
    }

    @Override
    public RecordType type() {
        return of.type();
    }

    @Override
    public List<String> primaryKey() {
        return of.primaryKey();
    }

    @Override
    public KeyForm keyForm() {
        return of.keyForm();
    }

    @Override
    public List<String> filterFields() {
        return of.filterFields();
    }

    @Override
    public List<IndexDescription> indexes() {
        return of.indexes();
    }

    @Override
    public ReadView openView() {
        return of.openView();
    }
}
