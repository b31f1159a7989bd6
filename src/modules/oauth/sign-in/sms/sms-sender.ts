/**
 * One text message: `to` is an E.164 number such as `+14155552671`, `text` is what the phone shows. `id` is the same in every
 * try of one message, so that a gateway can drop a repetition.
 */
export interface TextMessage {
  id: string;
  to: string;
  text: string;
}

/** How text messages leave the service. A port: bound to one implementation by `SMS_SENDER`. */
export abstract class SmsSender {
  /**
   * Resolves once the gateway took the message, which says nothing about its delivery.
   * Rejects when the gateway did not take it, or did not say so in time.
   */
  abstract send(message: TextMessage): Promise<void>;
}
