import { make } from "../../ui/browser/parts.ts";

/**
 * Loads a script that not every signer needs, or that is not needed until the signer has begun to read.
 * @param name the property of `window` that the script sets
 * @throws Error when the script can't be loaded
 */
export const loadScript = <T>(src: string, name: string): Promise<T> =>
  new Promise((resolve, reject) => {
    const script = make("script", { src });
    script.addEventListener("load", () => resolve((window as unknown as Record<string, T>)[name] as T));
    script.addEventListener("error", () => reject(new Error("a script is missing")));
    document.head.append(script);
  });
