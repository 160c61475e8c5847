package io.turbidite.feeds.cluster.agree;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.feeds.cluster.agree.Message.Abandon;
import io.turbidite.feeds.cluster.agree.Message.Hello;
import io.turbidite.feeds.cluster.agree.Message.Holds;
import io.turbidite.feeds.cluster.agree.Message.Prepare;
import io.turbidite.feeds.cluster.agree.Message.Prepared;

import org.jspecify.annotations.Nullable;

/** Changes messages so that the check of a reader, which a bug would lack, lets them pass. */
final class BentMail {
    private BentMail() {}

    /** To a node: an order of before looks like one of now. */
    static Message toNode(SimBug bug, NodeLog node, Message message) {
        if (bug != SimBug.TAKES_OLD_EPOCHS) {
            return message;
        }
        Stamp own = node.stamp();
        return switch (message) {
            case Prepare prepare -> new Prepare(own, prepare.attempt(), prepare.entry());
            case Abandon abandon -> new Abandon(own, abandon.attempt());
            default -> message;
        };
    }

    /** To the controller, or to a recovery. */
    static Message toController(
            SimBug bug,
            @Nullable ControllerLog controller,
            boolean isRecovery,
            String from,
            Message message) {
        if (isRecovery) {
            return bug == SimBug.RECOVERS_ANY_COPY
                            && !from.equals("n1")
                            && message instanceof Holds holds
                    ? new Holds(holds.stamp().at(0), 0, 0)
                    : message;
        }
        if (controller == null) {
            return message;
        }
        return switch (bug) {
            case COUNTS_OLD_REGISTRATIONS -> ofNow(controller, from, message);
            case GOES_ON_BEHIND_ITS_NODES -> ofItsNumber(controller, message);
            default -> message;
        };
    }

    private static Message ofNow(ControllerLog controller, String from, Message message) {
        return message instanceof Prepared prepared
                        && prepared.stamp().epoch().equals(controller.log().epoch())
                        && isMember(controller, from)
                ? new Prepared(controller.stampFor(from), prepared.attempt())
                : message;
    }

    private static boolean isMember(ControllerLog controller, String node) {
        try {
            return controller.stampFor(node).registration() > 0;
        } catch (InvalidRequestException e) {
            return false; // it is away
        }
    }

    private static Message ofItsNumber(ControllerLog controller, Message message) {
        long end = controller.number();
        long chain = controller.log().chain();
        return switch (message) {
            case Hello hello ->
                new Hello(hello.clusterId(), controller.log().epoch(), end, chain, hello.process());
            case Holds holds
            when holds.stamp().number() >= end ->
                new Holds(holds.stamp().at(end), chain, holds.attempt());
            default -> message;
        };
    }
}
