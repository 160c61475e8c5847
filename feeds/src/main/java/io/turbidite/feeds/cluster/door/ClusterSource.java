package io.turbidite.feeds.cluster.door;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.catalog.DatasetDefinition;
import io.turbidite.core.scan.IndexDescription;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.Source;
import io.turbidite.core.type.RecordType;

import java.util.List;

/** A dataset whose records are on nodes: jobs read it. <em>Immutable.</em> */
record ClusterSource(DatasetDefinition definition) implements Source {
    @Override
    public String name() {
        return definition.name();
    }

    @Override
    public RecordType type() {
        return definition.type();
    }

    @Override
    public List<String> primaryKey() {
        return definition.primaryKey();
    }

    @Override
    public List<String> filterFields() {
        return definition.filterFields();
    }

    @Override
    public List<IndexDescription> indexes() {
        return definition.indexes().stream()
                .map(index ->
                        new IndexDescription(index.name(), index.kind(), index.fields(), false))
                .toList();
    }

    @Override
    public ReadView openView() {
        throw unread(name());
    }

    static InvalidRequestException unread(String dataset) {
        return new InvalidRequestException(
                "dataset '%s' can't be read by a statement that changes: on a cluster there is"
                                .formatted(dataset)
                        + " INSERT and UPSERT of values, and no UPDATE or DELETE yet");
    }
}
