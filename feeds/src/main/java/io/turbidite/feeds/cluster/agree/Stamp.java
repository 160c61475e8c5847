package io.turbidite.feeds.cluster.agree;

import io.turbidite.feeds.cluster.change.Epoch;

import org.jspecify.annotations.Nullable;

/**
 * What each message, job and piece carries: for which cluster it was made, as of when.
 * <em>Immutable.</em>
 *
 * @param registration of the node, in this epoch; from 1
 * @param number of the last change that who sends it has
 */
public record Stamp(long clusterId, Epoch epoch, long registration, long number) {
    /** The number of a controller that is being recovered. */
    public static final long NUMBER_UNKNOWN = -1;

    /** With another number. */
    Stamp at(long otherNumber) {
        return new Stamp(clusterId, epoch, registration, otherNumber);
    }

    /**
     * Why this one does not fit whoever has {@code own}; null if it does. Numbers are not looked
     * at.
     */
    @Nullable
    Misfit misfit(Stamp own) {
        if (clusterId != own.clusterId) {
            return Misfit.OTHER_CLUSTER;
        }
        if (epoch.number() < own.epoch.number()) {
            return Misfit.OLD_EPOCH;
        }
        if (epoch.number() == own.epoch.number() && epoch.process() != own.epoch.process()) {
            return Misfit.OTHER_CONTROLLER;
        }
        return epoch.equals(own.epoch) && registration == own.registration
                ? null
                : Misfit.OTHER_REGISTRATION;
    }

    /**
     * Why a node does not take a job or piece with this stamp; null if it does.
     *
     * @param own the node's
     * @param isServing whether the node takes any
     */
    public @Nullable Misfit misfitOfWork(Stamp own, boolean isServing) {
        Misfit misfit = misfit(own);
        if (misfit != null) {
            return misfit;
        }
        if (!isServing) {
            return Misfit.OTHER_REGISTRATION;
        }
        return number == own.number ? null : Misfit.OTHER_NUMBER;
    }
}
